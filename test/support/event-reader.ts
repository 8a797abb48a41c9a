import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { inTime, within } from './wait.js'

export type Json = Record<string, unknown>

export interface ServerEvent { event?: string, id?: string, retry?: string, data?: string, comment?: string }

const DEADLINE = 60_000

/** Cuts an event stream into events and comments, as its bytes come. */
export class EventParser {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  /** The events that are complete with these bytes. */
  push (bytes: Uint8Array | string): ServerEvent[] {
    this.#rest +=
      typeof bytes === 'string'
        ? bytes
        : this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (!this.#rest.includes('\n\n')) return []
    const blocks = this.#rest.split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.filter(block => block !== '').map(fields)
  }
}

/** The data of every event in the text of a finished stream. */
export function dataOf (text: string): string[] {
  return new EventParser().push(`${text}\n\n`).map(({ data = '' }) => data).filter(data => data !== '')
}

/** The JSON of every event in the text of a finished stream. */
export function messagesOf (text: string): Json[] {
  return dataOf(text).filter(data => /^[{[]/.test(data)).map(data => JSON.parse(data) as Json)
}

/** Calls back for each event of a reply, comments included. */
export function readEvents (reply: IncomingMessage, onEvent: (event: ServerEvent) => void): void {
  const parser = new EventParser()
  reply.on('data', (chunk: Buffer | string) => parser.push(chunk).forEach(onEvent))
}

export interface EventStream {
  status: number
  headers: IncomingMessage['headers']
  /** Closes the connection without notice. */
  close: () => Promise<void>
}

/**
 * Opens an event stream on a connection of its own, with GET, or with POST where there is a body; settles when its
 * headers are there.
 */
export async function openEvents (
  port: number,
  path: string,
  headers: Record<string, string>,
  onData: (data: string, event: ServerEvent) => void,
  body?: string
): Promise<EventStream> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const accept = 'text/event-stream, application/json'
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: { accept, ...type, ...headers },
    agent: false
  })
  request.end(body)
  const [response] = (await inTime(once(request, 'response'), `an answer from ${path}`)) as [IncomingMessage]
  response.on('error', () => {})
  request.on('error', () => {})
  readEvents(response, event => {
    if (event.data !== undefined) onData(event.data, event)
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    close: async () => {
      if (response.destroyed) return
      response.destroy()
      await inTime(once(response, 'close'), 'the end of the stream')
    }
  }
}

/** Reads an event stream one event at a time, as `fetch` gives it. */
export class EventReader {
  readonly response: Response
  readonly #controller: AbortController
  readonly #events: AsyncGenerator<ServerEvent>

  constructor (response: Response, controller: AbortController) {
    this.response = response
    this.#controller = controller
    this.#events = eventsOf(response)
  }

  /** The next event or comment; undefined when the stream has ended. */
  async any (): Promise<ServerEvent | undefined> {
    return await within(DEADLINE, async signal => {
      signal.addEventListener('abort', () => this.drop(), { once: true })
      const { value, done } = await this.#events.next()
      return done === true ? undefined : value as ServerEvent
    })
  }

  /** The next event that is not a comment. */
  async event (): Promise<ServerEvent | undefined> {
    for (;;) {
      const event = await this.any()
      if (event?.comment === undefined) return event
    }
  }

  /** The JSON of the next event with data. */
  async message (): Promise<Json> {
    for (;;) {
      const event = await this.event()
      if (event === undefined) throw new Error('the stream has ended')
      if (event.data !== undefined && event.data !== '') return JSON.parse(event.data) as Json
    }
  }

  /** Everything up to the end. */
  async rest (): Promise<ServerEvent[]> {
    const events: ServerEvent[] = []
    for (let event = await this.event(); event !== undefined; event = await this.event()) events.push(event)
    return events
  }

  drop (): void {
    this.#controller.abort()
  }
}

export async function openStream (url: string, init: RequestInit = {}): Promise<EventReader> {
  const controller = new AbortController()
  const headers = { accept: 'text/event-stream, application/json', ...init.headers }
  return new EventReader(await fetch(url, { ...init, headers, signal: controller.signal }), controller)
}

async function * eventsOf (response: Response): AsyncGenerator<ServerEvent> {
  const parser = new EventParser()
  for await (const chunk of response.body ?? []) yield * parser.push(chunk as Uint8Array)
}

function fields (block: string): ServerEvent {
  const event: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const name = colon === 0 ? 'comment' : line.slice(0, colon)
    const value = line.slice(colon + 1).replace(/^ /, '')
    event[name] = name === 'data' && event[name] !== undefined ? `${event[name]}\n${value}` : value
  }
  return event
}
