import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Case, Head, Step } from '../case.js'
import { Conversation, handshake, PROBE } from '../conversation.js'
import { startsWithHandshake, MODERN, REVISIONS, versionsOf } from '../openings.js'
import { blank, cancelled, expected, messagesIn, MAX_MESSAGE } from '../expect.js'
import { censusOf, openGateway, type Plugin } from '../gateway.js'
import { defaultHead, rawRequest } from '../heads.js'
import { dataOf } from '../../support/event-reader.js'
import { HttpLine, StreamLine, type Reply } from '../http-line.js'
import { excuse, faultsOf, faultsOfAnswer, type Fault } from '../oracle.js'
import { inPieces } from '../pieces.js'
import type { Outcome, Target } from '../target.js'
import { Wait } from '../waiting.js'

/** What docs/errors.md lists, and the statuses of Node.js for bytes that are no HTTP. */
const STATUSES = [200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 415, 426, 429, 431]
const ODD_STATUSES = [...STATUSES, 101, 408, 411, 414, 417, 501]

const VERSIONS = [...REVISIONS, MODERN]

/** The replies there are not, or not at first, JSON-RPC. */
const NOT_MESSAGES = /^\/+(health|sse|mcp\/sse|mcp\/\.\.\/health|ticket|\.well-known)/

/** HTTP over real connections: every address, in every revision, with good heads and bad ones. */
export async function openHttp (plugins: Plugin[] = []): Promise<Target> {
  const app = await openGateway(plugins)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const lines: HttpLine[] = []
  const run = async (input: Case) => {
    const line = lines.pop() ?? new HttpLine(port)
    try {
      return await new HttpCase(app, port, line, input).run()
    } finally {
      lines.push(line)
    }
  }
  return {
    run,
    probe: async () =>
      (
        await run({
          target: 'http',
          opening: 'message',
          steps: [{ bytes: Buffer.from(PROBE) }],
          answers: [],
          burst: false,
          cut: 0
        })
      ).faults.length === 0,
    census: async () => {
      for (const line of lines.splice(0)) line.close()
      return await censusOf(app)
    },
    close: async () => {
      for (const line of lines) line.close()
      await app.close()
    }
  }
}

class HttpCase {
  readonly #port: number
  readonly #line: HttpLine
  readonly #input: Case
  readonly #talk: Conversation
  readonly #sessions = new Set<string>()
  readonly #statuses = new Set<string>()
  #stream: StreamLine | undefined
  #wait: Wait | undefined

  constructor (_app: FastifyInstance, port: number, line: HttpLine, input: Case) {
    this.#port = port
    this.#line = line
    this.#input = input
    this.#talk = new Conversation(input)
  }

  async run (): Promise<Outcome> {
    await this.#open()
    const { steps, burst, opening } = this.#input
    if (burst && steps.length > 1) await Promise.all(steps.map(async step => await this.#aside(step)))
    else for (const step of steps) await this.#step(step, this.#line)
    if (opening === 'sse') await this.#drainStream()
    await this.#leave()
    return { faults: this.#talk.faults, signatures: this.#talk.signatures([...this.#statuses]) }
  }

  async #open (): Promise<void> {
    const { opening } = this.#input
    if (opening === 'sse') await this.#openStream()
    if (!startsWithHandshake(opening)) return
    const { hello, thanks } = handshake(opening)
    const reply = await this.#post(this.#line, defaultHead('none', Buffer.from(hello)), Buffer.from(hello))
    const id = reply?.headers.get('mcp-session-id')
    if (id === undefined) return this.#fault('status', `no session: ${reply?.status}`)
    Object.assign(this.#talk.known, { session: id })
    await this.#post(this.#line, defaultHead(opening, Buffer.from(thanks)), Buffer.from(thanks))
  }

  async #openStream (): Promise<void> {
    let endpoint = ''
    const wait = new Wait(() => endpoint !== '')
    this.#stream = await StreamLine.open(
      this.#port,
      rawRequest(
        {
          method: 'GET',
          path: '/sse',
          headers: [
            ['host', 'localhost'],
            ['accept', 'text/event-stream']
          ]
        },
        Buffer.alloc(0)
      ),
      data => {
        if (endpoint === '') {
          endpoint = data
          return wait.look()
        }
        if (data !== '') this.#receive(data)
        this.#wait?.look()
      }
    )
    await wait.promise
    this.#talk.known.endpoint = endpoint
  }

  async #step (step: Step, line: HttpLine): Promise<void> {
    if (step.raw === true) return await this.#raw(step)
    const body = this.#talk.filled(step.bytes)
    const head = this.#fill(step.head ?? defaultHead(this.#input.opening, body))
    // Only what a good client posts is sure to be read as a message.
    if (step.head === undefined || this.#input.opening === 'sse') this.#talk.send(body)
    const reply = await this.#post(line, head, body)
    // A server hangs up on what it cannot make sense of.
    if (step.head !== undefined) line.close()
    if (reply === undefined) return this.#fault('hang', `no reply to ${head.method} ${head.path}`)
    this.#judge(reply, body, step.head === undefined, head)
  }

  async #aside (step: Step): Promise<void> {
    const line = new HttpLine(this.#port)
    await this.#step(step, line)
    line.close()
  }

  async #raw ({ bytes }: Step): Promise<void> {
    const line = new HttpLine(this.#port)
    const reply = await line.exchange(inPieces(this.#talk.filled(bytes), this.#input.cut), {
      last: true,
      onEvent: () => true
    })
    line.close()
    if (reply === undefined) return this.#fault('hang', 'neither a reply nor the end of the connection')
    this.#note(reply)
    if (reply.status !== 0 && !ODD_STATUSES.includes(reply.status)) {
      this.#fault('status', `${reply.status} ${reply.body}`)
    }
  }

  async #post (line: HttpLine, head: Head, body: Buffer): Promise<Reply | undefined> {
    const listens = head.method === 'GET'
    const framed = head.headers.some(([name]) =>
      /^(content-length|transfer-encoding|connection|upgrade|expect)$/.test(name)
    )
    const bytes = rawRequest(head, body)
    const reply = await line.exchange(inPieces(bytes, this.#input.cut), {
      bodiless: head.method === 'HEAD',
      last: framed,
      onEvent: (data, id) => {
        if (id !== undefined) this.#talk.known.event = id
        if (data !== '') this.#receive(data)
        // A stream that has no end of its own is left as soon as it is there.
        return listens || data.includes('notifications/subscriptions/acknowledged')
      }
    })
    if (reply !== undefined) this.#note(reply)
    return reply
  }

  #note ({ status, headers }: Reply): void {
    this.#statuses.add(`status ${status} ${headers.get('content-type')?.split(';')[0] ?? ''}`)
    const id = headers.get('mcp-session-id')
    if (id !== undefined) this.#sessions.add(id)
  }

  /** Questions on a stream are answered by a request of their own. */
  #receive (text: string): void {
    for (const answer of this.#talk.receive(text)) {
      const body = this.#talk.send(answer)
      const line = new HttpLine(this.#port)
      void this.#post(line, this.#fill(defaultHead(this.#input.opening, body)), body).finally(() => line.close())
    }
  }

  #judge (reply: Reply, body: Buffer, plain: boolean, head: Head): void {
    const { status, headers, body: text, whole } = reply
    const listened = messagesIn(body).some(({ method }) => method === 'subscriptions/listen')
    const streamed = headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!(plain ? STATUSES : [...ODD_STATUSES, 0]).includes(status)) return this.#fault('status', `${status} ${text}`)
    if (plain && !whole && !listened) this.#fault('invalid', `a reply that breaks off: ${status} ${text}`)
    if (!plain && status === 200 && NOT_MESSAGES.test(head.path)) return
    const texts =
      text === ''
        ? []
        : streamed
          ? dataOf(text)
          : headers.get('content-type')?.startsWith('application/json') === true
            ? [text]
            : []
    if (!plain && texts.every(isAboutHttp)) return
    if (!streamed) for (const one of texts) this.#talk.receive(one)
    for (const one of texts) {
      this.#talk.faults.push(...faultsOf(one, [...this.#talk.sent, body], plain ? versionsOf(this.#input) : VERSIONS))
    }
    if (!plain || listened || this.#input.opening === 'sse' || this.#mayEnd()) return
    if (body.length > MAX_MESSAGE && status === 413) return
    // What expects no answer is refused all the same, where it is not allowed.
    const allowed = [
      ...expected(body),
      ...(status >= 400 && messagesIn(body).every(({ id }) => id === undefined) ? [blank] : [])
    ]
    const excused = cancelled(this.#input.steps.map(({ bytes }) => bytes))
    this.#talk.faults.push(
      ...faultsOfAnswer(
        texts.flatMap(one => messagesIn(Buffer.from(one))),
        allowed.map(tally => excuse(tally, excused))
      )
    )
  }

  /** True when the session may be ended while others of its requests are under way. */
  #mayEnd (): boolean {
    return this.#input.burst && this.#input.steps.some(({ head, raw }) => raw === true || head?.method === 'DELETE')
  }

  async #drainStream (): Promise<void> {
    const plain = this.#input.steps.every(({ head, raw }) => head === undefined && raw === undefined)
    this.#wait = new Wait(() => this.#talk.complete, plain ? undefined : 0)
    await this.#wait.promise
    if (plain) this.#talk.faults.push(...this.#talk.shortfall())
    this.#talk.faults.push(...this.#talk.judge(VERSIONS))
  }

  async #leave (): Promise<void> {
    this.#stream?.close()
    for (const id of this.#sessions) {
      await this.#line.exchange([
        rawRequest(
          {
            method: 'DELETE',
            path: '/mcp',
            headers: [
              ['host', 'localhost'],
              ['mcp-session-id', id]
            ]
          },
          Buffer.alloc(0)
        )
      ])
    }
  }

  #fill ({ method, path, headers }: Head): Head {
    return {
      method,
      path: this.#talk.fill(path),
      headers: headers.map(([name, value]) => [name, this.#talk.fill(value)])
    }
  }

  #fault (kind: Fault['kind'], text: string): void {
    this.#talk.faults.push({ kind, text })
  }
}

/** The reply of Fastify to bytes that are no HTTP to it. */
const isAboutHttp = (text: string): boolean =>
  /^\{"error":"[\w ]+","message":"Client Error","statusCode":4\d\d\}$/.test(text)
