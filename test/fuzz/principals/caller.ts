import type { Case, Head, Line, Who } from '../case.js'
import { Conversation, handshake } from '../conversation.js'
import { MODERN } from '../openings.js'
import { defaultHead, rawRequest } from '../heads.js'
import { HttpLine, StreamLine, type Reply } from '../http-line.js'
import type { Fault } from '../oracle.js'
import { Wait } from '../waiting.js'
import { KEYS, MARKS } from './callers.js'
import { goodHead, isSocket } from './generate.js'
import { faultsOfText } from './oracle.js'
import { WebSocketLine } from './web-socket.js'
import type { World } from './world.js'

const NOTHING = Buffer.alloc(0)
const MAX_TRIES = 5

/** The client of one caller in one case: its connections, and what it knows. */
export class Caller {
  readonly who: Who
  /** What the server gave it, by the names that stand for it in cases. */
  readonly known: Record<string, string> = {}
  readonly faults: Fault[] = []
  readonly streams: StreamLine[] = []
  readonly sockets = new Map<Line, WebSocketLine>()
  readonly #world: World
  readonly #input: Case
  readonly #talks = new Map<Line, Conversation>()
  #wait: Wait | undefined

  constructor (world: World, input: Case, who: Who) {
    this.#world = world
    this.#input = input
    this.who = who
  }

  talk (line: Line): Conversation {
    const talk = this.#talks.get(line) ?? new Conversation(this.#input, this.known)
    this.#talks.set(line, talk)
    return talk
  }

  get talks (): Conversation[] {
    return [...this.#talks.values()]
  }

  async open (line: Line): Promise<void> {
    if (line === 'session') await this.#openSession()
    if (line === 'sse') await this.#openStream()
    if (isSocket(line)) await this.#openSocket(line)
  }

  /** Takes what came over one of its connections, and answers what was asked. */
  receive (line: Line, text: string): void {
    this.faults.push(...faultsOfText(text, this.who))
    const note = /"note:\/\/\/(\d+)"/.exec(text)?.[1]
    if (note !== undefined) this.known.note = note
    for (const answer of this.talk(line).receive(text)) void this.#answer(line, answer)
    this.#wait?.look()
  }

  /** Sends a message over a WebSocket. */
  say (line: Line, bytes: Buffer): void {
    this.sockets.get(line)?.send(this.talk(line).send(bytes))
  }

  /** Waits for every expected message over a connection that is not an HTTP reply. */
  async settle (line: Line, ms?: number): Promise<void> {
    this.#wait = new Wait(() => this.talk(line).complete || this.sockets.get(line)?.gone === true, ms)
    await this.#wait.promise
  }

  async post (head: Head, body: Buffer): Promise<Reply | undefined> {
    const line = this.#world.line()
    const reply = await line.exchange([rawRequest(this.#filled(head), body)])
    this.#world.release(line)
    return reply
  }

  async close (): Promise<void> {
    for (const stream of this.streams) stream.close()
    for (const socket of this.sockets.values()) await socket.close()
  }

  async #openSession (): Promise<void> {
    const { opening } = this.#input
    const { hello, thanks } = handshake(opening)
    const head = defaultHead('none', NOTHING)
    head.headers.push(['authorization', 'Bearer {{key}}'])
    const reply = await this.post(head, Buffer.from(hello))
    const id = reply?.headers.get('mcp-session-id')
    if (id === undefined) return this.#fault(`no session: ${reply?.status} ${reply?.body}`)
    this.known.session = id
    await this.post(goodHead('session', opening, NOTHING), Buffer.from(thanks))
    await this.#stream('/mcp', [['mcp-session-id', id]], data => this.receive('session', data))
  }

  async #openStream (): Promise<void> {
    const wait = new Wait(() => this.known.endpoint !== undefined)
    await this.#stream('/sse', [], data => {
      if (data.startsWith('/')) this.known.endpoint = data
      else this.receive('sse', data)
      wait.look()
    })
    await wait.promise
  }

  async #stream (path: string, headers: Head['headers'], receive: (data: string) => void): Promise<void> {
    const request = rawRequest(
      {
        method: 'GET',
        path,
        headers: [
          ['host', 'localhost'],
          ['accept', 'text/event-stream'],
          ['authorization', `Bearer ${KEYS[this.who]}`],
          ...headers
        ]
      },
      NOTHING
    )
    const stream = await StreamLine.open(this.#world.port, request, (data, id) => {
      if (id !== undefined) this.known.event = id
      if (data !== '') receive(data)
    })
    this.streams.push(stream)
    if (stream.reply.status !== 200) this.#fault(`no stream at ${path}: ${stream.reply.status} ${stream.reply.body}`)
  }

  async #openSocket (line: Line): Promise<void> {
    const received: string[] = []
    const receive = (text: string) => { if (received.push(text) > 1) this.receive(line, text) }
    // A ticket may have expired before it is shown, when many wait for their turn.
    let socket = await this.#connect(line, receive)
    for (let left = line === 'ticketed' ? MAX_TRIES : 0; !socket.upgraded && left > 0; left--) {
      socket = await this.#connect(line, receive)
    }
    if (!socket.upgraded) this.#fault(`no WebSocket: ${socket.head}`)
    this.sockets.set(line, socket)
    for (const text of Object.values(handshake(this.#input.opening))) socket.send(text)
    await socket.until(() => received.length > 0)
  }

  async #connect (line: Line, receive: (text: string) => void): Promise<WebSocketLine> {
    const ticket = line === 'ticketed' ? await this.#world.ticketFor(this.who) : undefined
    // Without one, when there are too many of other cases, the key does as well.
    if (ticket !== undefined) this.#world.redeem(ticket)
    const credential: Head['headers'] = ticket === undefined ? [['authorization', `Bearer ${KEYS[this.who]}`]] : []
    const headers: Head['headers'] = [
      ['host', 'localhost'],
      ['connection', 'Upgrade'],
      ['upgrade', 'websocket'],
      ['sec-websocket-version', '13'],
      ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ...credential
    ]
    return await WebSocketLine.open(
      this.#world.port,
      rawRequest({ method: 'GET', path: ticket === undefined ? '/mcp' : `/mcp?ticket=${ticket}`, headers }, NOTHING),
      receive
    )
  }

  async #answer (line: Line, template: Buffer): Promise<void> {
    const answer = Buffer.from(template.toString('latin1').replaceAll('{{canary}}', MARKS[this.who]), 'latin1')
    if (isSocket(line)) return this.say(line, answer)
    const http = new HttpLine(this.#world.port)
    await http.exchange([
      rawRequest(this.#filled(goodHead(line, this.#input.opening, answer)), this.talk(line).send(answer))
    ])
    http.close()
  }

  #filled ({ method, path, headers }: Head): Head {
    const fill = (text: string) =>
      text
        .replace('{{key}}', KEYS[this.who])
        .replace('{{session}}', this.known.session ?? '')
        .replace('{{endpoint}}', this.known.endpoint ?? '')
    return { method, path: fill(path), headers: headers.map(([name, value]) => [name, fill(value)]) }
  }

  #fault (text: string): void {
    this.faults.push({ kind: 'status', text: `${this.who}: ${text}` })
  }
}

/** The revisions in which a line may be answered. */
export const versionsOn = (line: Line, { opening }: Case): string[] =>
  line === 'modern' ? [MODERN] : line === 'message' || line === 'sse' ? ['2024-11-05'] : [opening]
