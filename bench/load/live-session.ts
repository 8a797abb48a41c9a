import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { INITIALIZE, INITIALIZED, LEGACY } from './messages.js'

/** An event of a stream, and when it came: in nanoseconds on the clock that all processes of a machine share. */
export interface ArrivedEvent { id: string | undefined, data: string, at: bigint }

/** Takes an event that a client reads of a stream; the client disconnects when this returns false. */
export type EventListener = (event: ArrivedEvent) => boolean

/**
 * A client that sends each request of its session to whichever node it likes, and reads events as they come. It can be
 * asked for forms.
 */
export class LiveSession {
  readonly #agent = new Agent({ keepAlive: true })
  #id: string | undefined

  static async open (port: number): Promise<LiveSession> {
    const session = new LiveSession()
    const reply = await session.#send(port, 'POST', {
      ...INITIALIZE,
      params: { ...INITIALIZE.params, capabilities: { elicitation: {} } }
    })
    session.#id = String(reply.headers['mcp-session-id'])
    await textOf(reply)
    await session.post(port, INITIALIZED)
    return session
  }

  /** Sends a message; the text of the reply. */
  async post (port: number, message: object): Promise<string> {
    return await textOf(await this.#send(port, 'POST', message))
  }

  /** Sends a request and reads the events of its reply, until it ends or the listener hangs up. */
  async call (port: number, message: object, onEvent: EventListener): Promise<void> {
    await readEvents(await this.#send(port, 'POST', message), onEvent)
  }

  /** Reads the rest of a stream. */
  async resume (port: number, lastEventId: string, onEvent: EventListener): Promise<void> {
    await readEvents(await this.#send(port, 'GET', undefined, { 'last-event-id': lastEventId }), onEvent)
  }

  async end (port: number): Promise<void> {
    await textOf(await this.#send(port, 'DELETE', undefined))
    this.#agent.destroy()
  }

  async #send (
    port: number,
    method: string,
    message: object | undefined,
    headers: Record<string, string> = {}
  ): Promise<IncomingMessage> {
    const session = this.#id === undefined ? {} : { 'mcp-session-id': this.#id, 'mcp-protocol-version': LEGACY }
    const all = {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...session,
      ...headers
    }
    const sent = request({ port, host: '127.0.0.1', path: '/mcp', method, headers: all, agent: this.#agent })
    sent.end(message === undefined ? undefined : JSON.stringify(message))
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    if ((reply.statusCode ?? 500) >= 300) throw new Error(`refused: ${reply.statusCode} ${await textOf(reply)}`)
    return reply
  }
}

async function textOf (reply: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of reply) text += String(chunk)
  return text
}

async function readEvents (reply: IncomingMessage, onEvent: EventListener): Promise<void> {
  let rest = ''
  for await (const chunk of reply) {
    const at = process.hrtime.bigint()
    const parts = (rest + String(chunk)).split('\n\n')
    rest = parts.pop() as string
    if (!parts.every(text => onEvent({ ...parseEvent(text), at }))) return
  }
}

function parseEvent (text: string): { id: string | undefined, data: string } {
  return { id: /^id: *(.*)$/m.exec(text)?.[1], data: /^data: *(.*)$/m.exec(text)?.[1] ?? '' }
}
