import { setTimeout as sleep } from 'node:timers/promises'
import { Caller, describe, judge } from './caller.js'
import { hasSession, note } from './calls.js'
import type { Cluster, Node } from './cluster.js'
import type { Tally } from './tally.js'

const MOST = 40
const AGAIN = 50
const FOREVER = 600_000
/**
 * Messages that a node sent so many milliseconds before it was killed may not have reached Redis: a tool does not wait
 * for its notifications.
 */
const UNDER_WAY = 500
/** How long is waited for what is still under way. */
const AFTERWARDS = 8_000

/** A text that a node was made to send, and when its answer came. */
interface Said { mark: string, node: Node, at: number }

/** A client that reads the stream of its session, at one node after the other, while it makes every node send there. */
export class Listener {
  readonly #cluster: Cluster
  readonly #tally: Tally
  /** Two, because the stream has its connections to itself. */
  readonly #reader: Caller
  readonly #speaker: Caller
  readonly #said: Said[] = []
  readonly #heard: string[] = []
  /** Texts of events without an id, which a client that is cut gets once more. */
  readonly #withoutId = new Set<string>()
  #lastId: string | undefined
  #isOver = false
  #reading: Promise<void> | undefined

  constructor (cluster: Cluster, tally: Tally) {
    this.#cluster = cluster
    this.#tally = tally
    this.#reader = new Caller(cluster, tally)
    this.#speaker = new Caller(cluster, tally)
  }

  /** Makes the next node send something. */
  async say (): Promise<void> {
    const speaker = this.#speaker
    if (!await hasSession(speaker)) return
    if (this.#reader.session !== speaker.session) this.#follow(speaker.session)
    this.#reading ??= this.#read()
    const [node, mark] = [this.#cluster.next(), `${speaker.session}:${this.#said.length + 1}`]
    const answer = await speaker.callTool(node, { name: 'nodes_say', arguments: { text: mark } })
    const outcome = judge(answer, mark)
    note(
      speaker,
      outcome === 'gone' && speaker.isUncertain ? 'say, opened while harmed' : 'say',
      node,
      outcome,
      describe(answer)
    )
    if (outcome === 'right') this.#said.push({ mark, node, at: performance.now() })
    if (outcome === 'gone') speaker.session = undefined
  }

  /** Waits for the rest, and counts. */
  async end (): Promise<void> {
    const { events } = this.#tally
    for (const end = Date.now() + AFTERWARDS; Date.now() < end && this.#missing.length > 0;) await sleep(AGAIN)
    this.#isOver = true
    for (const { wire } of [this.#reader, this.#speaker]) wire.close()
    await this.#reading
    events.heard += this.#heard.length
    events.lost += this.#missing.length
    const doubled = this.#heard.filter((text, index) => this.#heard.indexOf(text) !== index)
    events.doubled += doubled.length
    if (doubled.length > 0) {
      this.#tally.sample(
        'events of a session',
        `heard twice: ${doubled
          .slice(0, 10)
          .map(text => text.split(':')[1])
          .join(' ')}`
      )
    }
    if (this.#missing.length > 0) {
      this.#tally.sample(
        'events of a session',
        `not heard: ${this.#missing
          .slice(0, 10)
          .map(text => text.split(':')[1])
          .join(' ')} of ${this.#said.length}`
      )
    }
  }

  get #missing (): string[] {
    const heard = new Set(this.#heard)
    return this.#said.filter(said => !heard.has(said.mark) && !diedWithNode(said)).map(({ mark }) => mark)
  }

  #follow (session: string | undefined): void {
    this.#reader.session = session
    this.#lastId = undefined
    this.#reader.wire.close()
  }

  async #read (): Promise<void> {
    while (!this.#isOver) {
      const { session } = this.#reader
      const most = 1 + Math.floor(Math.random() * MOST)
      const { status, lastId, messages } = await this.#reader.listen(this.#cluster.next(), this.#lastId, {
        most,
        patience: FOREVER,
        onMessage: ({ id, text }) => this.#hear(id, text)
      })
      if (status === 404) this.#tally.note('listen', 'gone', `after ${this.#lastId}`)
      // What cannot be resumed is read from what is there.
      if (session === this.#reader.session) this.#lastId = status === 404 ? undefined : lastId ?? this.#lastId
      if (messages.length === 0) await sleep(AGAIN)
    }
  }

  #hear (id: string | undefined, text: string): void {
    const { session = '' } = this.#reader
    this.#tally.identify(session, id, text)
    const data = /"data":"([^"]+)"/.exec(text)?.[1]
    if (data === undefined) return
    if (!data.startsWith(`${session}:`)) return this.#tally.note('listen', 'wrong', text)
    if (id === undefined) this.#withoutId.add(data)
    else if (this.#withoutId.delete(data)) return
    this.#heard.push(data)
  }
}

const diedWithNode = ({ node, at }: Said): boolean => Math.abs(node.killedAt - at) < UNDER_WAY
