import { isUtf8 } from 'node:buffer'
import { WHO, type Case, type Head, type Line, type Step, type Who } from '../case.js'
import { META_KEYS } from '../dictionary.js'
import { MODERN, REVISIONS } from '../openings.js'
import { blank, cancelled, expected, MAX_MESSAGE, messagesIn } from '../expect.js'
import { rawRequest } from '../heads.js'
import { dataOf } from '../../support/event-reader.js'
import { HttpLine, StreamLine, type Reply } from '../http-line.js'
import { excuse, faultsOf, faultsOfAnswer, type Fault } from '../oracle.js'
import { inPieces } from '../pieces.js'
import type { Outcome } from '../target.js'
import { Caller, versionsOn } from './caller.js'
import { CREDENTIALS, KEYS, MARKS, otherThan } from './callers.js'
import { goodHead, isSocket } from './generate.js'
import { holderOf, ticketsIn } from './holder.js'
import { faultsOfReply, faultsOfSeals, faultsOfText, isSuccess, type Visit } from './oracle.js'
import type { World } from './world.js'

const PACE = 30
const PING = Buffer.from('{"jsonrpc":"2.0","id":"still there","method":"ping"}')
/** What docs/errors.md lists; and, for heads that are not those of a good client, the statuses of Node.js. */
const STATUSES = [200, 202, 204, 400, 401, 403, 404, 405, 406, 409, 413, 415, 426, 429, 431]
const ODD_STATUSES = [...STATUSES, 0, 101, 408, 411, 414, 417, 501]
const VERSIONS = [...REVISIONS, MODERN]
const FRAMING = /^(content-length|transfer-encoding|connection|upgrade|expect)$/
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** One request, as it went out. */
interface Sent extends Visit { caller: Caller, line: Line, body: Buffer, plain: boolean }

/** One case: two callers that use the same gateway at the same time. */
export class Pair {
  readonly #world: World
  readonly #input: Case
  readonly #faults: Fault[] = []
  readonly #words = new Set<string>()
  readonly #sessions = new Set<string>()
  readonly #owners = new Map<string, Who>()
  readonly #callers: Record<Who, Caller>

  constructor (world: World, input: Case) {
    this.#world = world
    this.#input = input
    this.#callers = { ada: new Caller(world, input, 'ada'), bob: new Caller(world, input, 'bob') }
  }

  async run (): Promise<Outcome> {
    const { steps, burst } = this.#input
    await Promise.all(WHO.map(async who => await this.#open(this.#callers[who])))
    if (burst) await Promise.all(steps.map(async step => await this.#step(step)))
    else for (const step of steps) await this.#step(step)
    await Promise.all(WHO.map(async who => await this.#conclude(this.#callers[who])))
    for (const id of this.#sessions) await this.#world.endSession(id)
    const callers = Object.values(this.#callers)
    return {
      faults: [...this.#faults, ...callers.flatMap(({ faults }) => faults)],
      signatures: [
        ...callers.flatMap(({ talks }) => talks.flatMap(talk => talk.signatures())),
        ...[...this.#words].map(word => `${this.#input.opening} ${word}`)
      ]
    }
  }

  async #open (caller: Caller): Promise<void> {
    await Promise.all([...linesOf(caller.who, this.#input)].map(async line => await caller.open(line)))
    const { session, endpoint } = caller.known
    if (session !== undefined) this.#own(session, caller.who)
    if (endpoint !== undefined) this.#owners.set(endpoint.split('=')[1] ?? '', caller.who)
  }

  async #step (step: Step): Promise<void> {
    const { who, line } = step.from ?? { who: 'ada', line: 'message' }
    const caller = this.#callers[who]
    if (step.raw === true) return await this.#raw(step, who)
    if (step.head !== undefined || !isSocket(line)) return await this.#request(step, caller, line)
    caller.say(line, this.#bytes(step.bytes, who, who))
    if (!this.#input.burst) await caller.settle(line, PACE)
  }

  async #request (step: Step, caller: Caller, line: Line): Promise<void> {
    const { who } = caller
    const plain = step.head === undefined
    const head = await this.#head(
      step.head ?? goodHead(line, this.#input.opening, this.#bytes(step.bytes, who, who)),
      who
    )
    const holder = holderOf(head, this.#world.ownerOf)
    const body = this.#bytes(step.bytes, who, holder)
    const sent: Sent = {
      caller,
      line,
      body,
      plain,
      head,
      holder,
      stateless:
        body.includes(META_KEYS[0] as string) ||
        head.headers.some(([name, value]) => name.toLowerCase() === 'mcp-protocol-version' && value.trim() === MODERN),
      owners: this.#owners
    }
    if (plain) caller.talk(line).send(body)
    const reply = plain && line === 'modern' && listens(body) ? await this.#listen(sent) : await this.#exchange(sent)
    if (reply === undefined) return this.#fault('hang', `no reply to ${head.method} ${head.path}`)
    this.#judge(reply, sent)
  }

  /** A stream that stays until the case is over. */
  async #listen ({ head, body, caller, line }: Sent): Promise<Reply | undefined> {
    const stream = await StreamLine.open(this.#world.port, rawRequest(head, body), data => {
      if (data !== '') caller.receive(line, data)
    })
    caller.streams.push(stream)
    return stream.reply.status === 0 ? undefined : stream.reply
  }

  async #exchange ({ head, body, plain, holder, caller, line }: Sent): Promise<Reply | undefined> {
    const http = plain ? this.#world.line() : new HttpLine(this.#world.port)
    const reply = await http.exchange(inPieces(rawRequest(head, body), this.#input.cut), {
      bodiless: head.method === 'HEAD',
      last: head.headers.some(([name]) => FRAMING.test(name)),
      onEvent: data => {
        if (plain && data !== '') caller.receive(line, data)
        else this.#faults.push(...faultsOfText(data, holder))
        return head.method === 'GET' || data.includes(ACKNOWLEDGED)
      }
    })
    if (plain) this.#world.release(http)
    else http.close()
    return reply
  }

  /** Bytes that need not be a request: only a connection that sent the credential of a caller may get its texts. */
  async #raw (step: Step, who: Who): Promise<void> {
    const bytes = Buffer.from(this.#fill(step.bytes.toString('latin1'), who, undefined), 'latin1')
    const http = new HttpLine(this.#world.port)
    const reply = await http.exchange(inPieces(bytes, this.#input.cut), { last: true, onEvent: () => true })
    http.close()
    if (reply === undefined) return this.#fault('hang', 'neither a reply nor the end of the connection')
    this.#note(reply, 'raw')
    const shown = WHO.filter(name => bytes.includes(KEYS[name]))
    if (!ODD_STATUSES.includes(reply.status)) this.#fault('status', `${reply.status} ${reply.body}`)
    if (shown.length === 0 && reply.status === 200 && !reply.body.startsWith('{"status":')) {
      this.#fault('access', `let in without a credential: ${reply.body}`)
    }
    for (const name of WHO) {
      if (!shown.includes(name) && reply.body.includes(MARKS[name])) {
        this.#fault('isolation', `what belongs to ${name} in ${reply.body}`)
      }
    }
  }

  #judge (reply: Reply, sent: Sent): void {
    const { plain, line, head, holder, body } = sent
    const { status } = reply
    this.#note(reply, plain ? line : `visit ${holder !== undefined}`)
    this.#faults.push(...faultsOfReply(reply, sent))
    if (holder !== undefined && head.path.startsWith('/ticket')) this.#world.learnTicket(reply.body, holder)
    else if (reply.body.match(/[\w-]{43}/g)?.some(text => this.#world.ownerOf(text) !== undefined) === true) {
      this.#fault('secret', `a ticket in ${reply.body}`)
    }
    const [ticket] = ticketsIn(head)
    if (ticket !== undefined) sent.caller.known.spent = ticket
    if (ticket !== undefined && isSuccess(status) && !this.#world.redeem(ticket)) {
      this.#fault('access', `a ticket lets in twice: ${head.path}`)
    }
    if (!(plain ? STATUSES : ODD_STATUSES).includes(status)) return this.#fault('status', `${status} ${reply.body}`)
    const texts = textsOf(reply)
    for (const text of texts.filter(text => text.includes('"jsonrpc"'))) {
      this.#faults.push(
        ...faultsOf(text, [...sent.caller.talk(line).sent, body], plain ? versionsOn(line, this.#input) : VERSIONS)
      )
    }
    if (plain) this.#judgeAnswer(reply, texts, sent)
  }

  /** A good client is answered as if it were the only one. */
  #judgeAnswer ({ status, headers }: Reply, texts: string[], { caller, line, body }: Sent): void {
    if (headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      for (const text of texts) caller.receive(line, text)
    }
    if (line === 'sse' || listens(body) || this.#mayEnd(caller.who) || (status === 413 && body.length > MAX_MESSAGE)) {
      return
    }
    const allowed = [
      ...expected(body),
      ...(status >= 400 && messagesIn(body).every(({ id }) => id === undefined) ? [blank] : [])
    ]
    const excused = cancelled(this.#stepsOf(caller.who).map(({ bytes }) => bytes))
    this.#faults.push(
      ...faultsOfAnswer(
        texts.flatMap(text => messagesIn(Buffer.from(text))),
        allowed.map(tally => excuse(tally, excused))
      )
    )
  }

  async #conclude (caller: Caller): Promise<void> {
    const { who, sockets } = caller
    for (const line of linesOf(who, this.#input)) {
      if (line === 'sse' || sockets.has(line)) await this.#concludeLine(caller, line)
    }
    if (caller.known.session !== undefined && !this.#mayEnd(who)) {
      const reply = await caller.post(goodHead('session', this.#input.opening, PING), PING)
      if (reply?.status !== 200) {
        this.#fault(
          'isolation',
          `the session of ${who} is gone, which ${who} did not end: ${reply?.status} ${reply?.body}`
        )
      }
    }
    const { state, cursor } = this.#callers[otherThan(who)].known
    for (const { sent, received } of caller.talks) {
      this.#faults.push(
        ...faultsOfSeals(
          sent.flatMap(messagesIn),
          received,
          new Set([state, cursor].filter(seal => seal !== undefined))
        )
      )
    }
    await caller.close()
  }

  async #concludeLine (caller: Caller, line: Line): Promise<void> {
    const talk = caller.talk(line)
    const muddled =
      line === 'sse' && this.#stepsOf(caller.who).some(({ head, raw }) => raw === true || head !== undefined)
    if (!muddled) await caller.settle(line)
    const socket = caller.sockets.get(line)
    const mayClose = socket?.upgraded === false || talk.sent.some(bytes => !isUtf8(bytes) || bytes.length > MAX_MESSAGE)
    if (socket?.gone === true && !mayClose) {
      this.#fault('closed', `the WebSocket of ${caller.who} is closed with ${socket.code}`)
    }
    if (!muddled) {
      this.#faults.push(...talk.shortfall().filter(({ kind }) => kind === 'unasked' || socket?.gone !== true))
    }
    this.#faults.push(...talk.judge(muddled ? VERSIONS : versionsOn(line, this.#input)))
  }

  #note ({ status, headers }: Reply, by: string): void {
    this.#words.add(`${by} status ${status}`)
    const id = headers.get('mcp-session-id')
    if (id !== undefined) this.#sessions.add(id)
  }

  #own (session: string, who: Who): void {
    this.#sessions.add(session)
    this.#owners.set(session, who)
  }

  /** The steps that may be made with the identity of a caller, from any connection. */
  #stepsOf (who: Who): Step[] {
    return this.#input.steps.filter(
      ({ from, head, raw }) =>
        raw === true || from?.who === who || /their_(key|ticket)/.test(JSON.stringify(head ?? {}))
    )
  }

  #mayEnd (who: Who): boolean {
    return this.#stepsOf(who).some(({ head, raw }) => raw === true || head?.method === 'DELETE')
  }

  async #head ({ method, path, headers }: Head, who: Who): Promise<Head> {
    const text = JSON.stringify([path, headers])
    if (text.includes('{{ticket}}')) await this.#renewTicket(this.#callers[who])
    if (text.includes('{{their_ticket}}')) await this.#renewTicket(this.#callers[otherThan(who)])
    const fill = (part: string) => this.#fill(part, who, undefined)
    return { method, path: fill(path), headers: headers.map(([name, value]) => [name, fill(value)]) }
  }

  async #renewTicket ({ who, known }: Caller): Promise<void> {
    known.ticket = await this.#world.ticketFor(who) ?? 'none'
  }

  #bytes (template: Buffer, who: Who, holder: Who | undefined): Buffer {
    return template.includes('{{')
      ? Buffer.from(this.#fill(template.toString('latin1'), who, holder), 'latin1')
      : template
  }

  #fill (text: string, who: Who, holder: Who | undefined): string {
    return text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => {
      if (name === 'canary') return holder === undefined ? 'of-nobody' : MARKS[holder]
      const owner = name.startsWith('their_') ? otherThan(who) : who
      const bare = name.replace('their_', '')
      return CREDENTIALS[bare]?.(KEYS[owner]) ?? this.#callers[owner].known[bare] ?? whole
    })
  }

  #fault (kind: Fault['kind'], text: string): void {
    this.#faults.push({ kind, text })
  }
}

/** The connections that a caller has in a case: those it uses, and those that a step of the other names. */
function linesOf (who: Who, { steps }: Case): Set<Line> {
  const lines = new Set(steps.flatMap(({ from }) => from?.who === who ? [from.line] : []))
  for (const { from, head, bytes } of steps) {
    const text = `${JSON.stringify(head ?? {})}${bytes.toString('latin1')}`
    const mine = from?.who === who ? '' : 'their_'
    if (text.includes(`{{${mine}session}}`) || text.includes(`{{${mine}event}}`)) lines.add('session')
    if (text.includes(`{{${mine}endpoint}}`)) lines.add('sse')
  }
  return lines
}

function textsOf ({ headers, body }: Reply): string[] {
  const type = headers.get('content-type') ?? ''
  if (body === '') return []
  return type.startsWith('text/event-stream') ? dataOf(body) : type.startsWith('application/json') ? [body] : []
}

const listens = (body: Buffer): boolean => messagesIn(body).some(({ method }) => method === 'subscriptions/listen')
