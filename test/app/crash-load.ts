import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { openSession, type HttpSession } from '../support/http-session.js'
import { modernMeta } from '../support/modern.js'

type Json = Record<string, unknown>

const DEADLINE = 60_000

/** Sends one tool call and gives its answer; rejects when the connection breaks. */
export type Connection = (name: string, args: object) => Promise<Json>

/** What was asked of a server that is killed again and again, and what it has acknowledged. */
export class Load {
  readonly notes = { sent: new Set<string>(), acknowledged: new Set<string>() }
  readonly counter = { sent: 0, acknowledged: 0, calls: 0, acknowledgedCalls: 0 }
  /** What was answered, but not with success. */
  readonly refused: string[] = []
  /** How many were sent without an answer. */
  unknown = 0
  readonly #over = new AbortController()
  readonly #loops: Array<Promise<void>> = []

  get acknowledged (): number {
    return this.notes.acknowledged.size + this.counter.acknowledgedCalls
  }

  /** Writes through a connection without a break until the load is stopped. */
  add (name: string, connection: Connection): void {
    this.#loops.push(this.#write(name, connection))
  }

  async stop (): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#loops)
  }

  get stopped (): boolean {
    return this.#over.signal.aborted
  }

  async #write (name: string, connection: Connection): Promise<void> {
    for (let count = 1; !this.stopped; count++) {
      try {
        await (count % 2 === 0
          ? this.#addNote(`${name} ${count}`, connection)
          : this.#increment(1 + (count % 3), connection))
      } catch {
        await sleep(10)
      }
    }
  }

  async #addNote (content: string, connection: Connection): Promise<void> {
    this.notes.sent.add(content)
    const success = await this.#ask(connection, 'add_note', { content }, () => this.notes.sent.delete(content))
    if (success) this.notes.acknowledged.add(content)
  }

  async #increment (amount: number, connection: Connection): Promise<void> {
    this.counter.sent += amount
    this.counter.calls++
    const success = await this.#ask(connection, 'increment_counter', { amount }, () => {
      this.counter.sent -= amount
      this.counter.calls--
    })
    if (!success) return
    this.counter.acknowledged += amount
    this.counter.acknowledgedCalls++
  }

  async #ask (connection: Connection, name: string, args: object, neverSent: () => void): Promise<boolean> {
    try {
      return this.#isSuccess(await inTime(connection(name, args)))
    } catch (error) {
      if (isUnreachable(error)) neverSent()
      else this.unknown++
      throw error
    }
  }

  #isSuccess (answer: Json): boolean {
    const { result } = answer as { result?: { isError?: boolean } }
    const success = result !== undefined && result.isError !== true
    if (!success) this.refused.push(JSON.stringify(answer))
    return success
  }
}

/** A plain message, without any handshake. */
export function plainConnection (url: string): Connection {
  return async (name, args) =>
    await send(`${url}/message`, {}, { id: 1, method: 'tools/call', params: { name, arguments: args } })
}

export function modernConnection (url: string): Connection {
  return async (name, args) =>
    await send(
      `${url}/mcp`,
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
      { id: 1, method: 'tools/call', params: { name, arguments: args, _meta: modernMeta() } }
    )
}

/** One session for the whole time, however often the server dies. */
export async function sessionConnection (url: string): Promise<Connection> {
  const session: HttpSession = await openSession(url, '2025-06-18')
  let id = 0
  return async (name, args) =>
    (await session.post({ id: ++id, method: 'tools/call', params: { name, arguments: args } })).body
}

/** A connection that is made again when it breaks. */
export function websocketConnection (url: string): Connection {
  let socket: WebSocket | undefined
  return async (name, args) => {
    if (socket?.readyState !== WebSocket.OPEN) socket = await connect(`${url.replace('http', 'ws')}/mcp`)
    return await ask(socket, { id: 1, method: 'tools/call', params: { name, arguments: args } })
  }
}

async function connect (url: string): Promise<WebSocket> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.on('error', () => {})
  await ask(socket, {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'crash', version: '1' } }
  })
  return socket
}

async function ask (socket: WebSocket, message: { id: number } & Json): Promise<Json> {
  return await new Promise((resolve, reject) => {
    const done = (): void => { socket.off('message', onMessage).off('close', onClose) }
    const onClose = (): void => { done(); reject(new Error('the socket closed')) }
    const onMessage = (data: Buffer): void => {
      const answer = JSON.parse(String(data)) as Json
      if (answer.id !== message.id) return
      done()
      resolve(answer)
    }
    socket.on('message', onMessage).on('close', onClose)
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  })
}

/** A server that lives answers, and one that was killed breaks the connection. */
async function inTime (answer: Promise<Json>): Promise<Json> {
  const over = new AbortController()
  try {
    return await Promise.race([
      answer,
      sleep(DEADLINE, { error: `no answer within ${DEADLINE} ms` }, { signal: over.signal })
    ])
  } finally {
    over.abort()
  }
}

function isUnreachable (error: unknown): boolean {
  const { code, cause } = error as { code?: string, cause?: { code?: string } }
  return (code ?? cause?.code) === 'ECONNREFUSED'
}

async function send (url: string, headers: Record<string, string>, message: object): Promise<Json> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message })
  })
  return await response.json() as Json
}
