import {
  STREAM_LIMITS,
  STANDALONE,
  surplusStreams,
  type AppendOptions,
  type Appended,
  type LoggedEvent,
  type NumberedEvent,
  type Replay,
  type SessionChange,
  type SessionRecord,
  type SessionStore,
  type StoredSession
} from '../../protocol/store.js'

interface Stream {
  events: NumberedEvent[]
  last: number
  seen: number
  size: number
  ended: boolean
  interruptedResponse: string
}
interface Kept {
  agreement: string
  principal: string | undefined
  subscriptions: Set<string>
  expires: number
  streams: Map<string, Stream>
}

/** The sessions of one process, which has no other nodes. */
export class MemorySessions implements SessionStore {
  readonly #sessions = new Map<string, Kept>()
  /** The ids of the sessions of each principal. */
  readonly #byPrincipal = new Map<string, Set<string>>()

  async save (id: string, record: SessionRecord, expires: number, max = Infinity): Promise<boolean> {
    if (this.#hasSoMany(record.principal, id, max)) return false
    const streams = this.#sessions.get(id)?.streams ?? new Map<string, Stream>()
    const { subscriptions, ...agreement } = record
    if (record.principal !== undefined) this.#idsOf(record.principal).add(id)
    this.#sessions.set(id, {
      agreement: JSON.stringify(agreement),
      principal: record.principal,
      subscriptions: new Set(subscriptions),
      expires,
      streams
    })
    return true
  }

  async load (id: string): Promise<StoredSession | undefined> {
    const stored = this.#sessions.get(id)
    return stored === undefined || stored.expires <= Date.now()
      ? undefined
      : { record: recordOf(stored), home: undefined }
  }

  async update (id: string, { agreement, subscriptions }: SessionChange, expires: number): Promise<boolean> {
    const stored = this.#sessions.get(id)
    if (stored === undefined) return false
    stored.expires = expires
    if (agreement !== undefined) {
      stored.agreement = JSON.stringify({ ...(JSON.parse(stored.agreement) as object), ...agreement })
    }
    for (const [uri, wanted] of subscriptions) stored.subscriptions[wanted ? 'add' : 'delete'](uri)
    return true
  }

  async moveHome (id: string): Promise<boolean> {
    return this.#sessions.has(id)
  }

  async takeOver (): Promise<string[]> {
    return []
  }

  async touch (ids: string[], expires: number): Promise<void> {
    for (const id of ids) {
      const stored = this.#sessions.get(id)
      if (stored !== undefined) stored.expires = expires
    }
  }

  async remove (id: string): Promise<void> {
    this.#remove(id)
  }

  async removeUnused (id: string): Promise<void> {
    await this.remove(id)
  }

  async sweep (): Promise<void> {
    const now = Date.now()
    for (const [id, { expires }] of this.#sessions) if (expires <= now) this.#remove(id)
  }

  onChange (): () => void {
    return () => {}
  }

  onNews (): () => void {
    return () => {}
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    this.#stream(id, stream, interruptedResponse)
  }

  async append (
    id: string,
    stream: string,
    { text, method }: LoggedEvent,
    seen: boolean,
    { begins, ends = false }: AppendOptions = {}
  ): Promise<Appended> {
    const stored = this.#stream(id, stream, begins)
    if (stored === undefined) return undefined
    if (stored.ended) return 'ended'
    const after = stored.last
    const number = ++stored.last
    stored.events.push({ text, method, number, after })
    stored.size += text.length
    if (seen) stored.seen = number
    while (
      stored.events.length > STREAM_LIMITS.events ||
      (stored.size > STREAM_LIMITS.text && stored.events.length > 1)
    ) { stored.size -= stored.events.shift()?.text.length ?? 0 }
    if (ends) this.#end(id, stored)
    return { number, after }
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    const stored = this.#sessions.get(id)?.streams.get(stream)
    if (stored !== undefined) stored.seen = Math.max(stored.seen, number)
  }

  async end (id: string, stream: string): Promise<void> {
    const stored = this.#sessions.get(id)?.streams.get(stream)
    if (stored !== undefined) this.#end(id, stored)
  }

  async finish (): Promise<string[]> {
    return []
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    const stored = stream === STANDALONE ? this.#stream(id, stream) : this.#sessions.get(id)?.streams.get(stream)
    if (stored === undefined) return undefined
    const { events, last, ended } = stored
    const first = events[0]?.number ?? last + 1
    const from = after ?? Math.max(stored.seen, first - 1)
    if (from < first - 1 || from > last) return undefined
    return { after: from, events: events.filter(({ number }) => number > from), ended }
  }

  async attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return await this.read(id, stream, after)
  }

  async isReader (): Promise<boolean> {
    return true
  }

  #end (id: string, stored: Stream): void {
    stored.ended = true
    const streams = this.#sessions.get(id)?.streams ?? new Map<string, Stream>()
    const summaries = [...streams].map(([name, { size, ended, seen, last }]) => ({
      stream: name,
      size,
      ended,
      seen: seen === last
    }))
    for (const name of surplusStreams(summaries)) streams.delete(name)
  }

  #remove (id: string): void {
    const { principal } = this.#sessions.get(id) ?? {}
    this.#sessions.delete(id)
    if (principal === undefined) return
    const ids = this.#idsOf(principal)
    ids.delete(id)
    if (ids.size === 0) this.#byPrincipal.delete(principal)
  }

  /** True when a principal has so many sessions beside this one that have not expired. */
  #hasSoMany (principal: string | undefined, beside: string, max: number): boolean {
    const ids = (principal === undefined ? undefined : this.#byPrincipal.get(principal)) ?? new Set<string>()
    // Each is looked at only where there may be too many.
    if (ids.size < max) return false
    const now = Date.now()
    return [...ids].filter(id => id !== beside && (this.#sessions.get(id)?.expires ?? 0) > now).length >= max
  }

  #idsOf (principal: string): Set<string> {
    const ids = this.#byPrincipal.get(principal) ?? new Set()
    this.#byPrincipal.set(principal, ids)
    return ids
  }

  #stream (id: string, stream: string, interruptedResponse = ''): Stream | undefined {
    const streams = this.#sessions.get(id)?.streams
    const present = streams?.get(stream)
    if (streams === undefined || present !== undefined) return present
    const added = { events: [], last: 0, seen: 0, size: 0, ended: false, interruptedResponse }
    streams.set(stream, added)
    return added
  }
}

const recordOf = ({ agreement, subscriptions }: Kept): SessionRecord => ({
  ...(JSON.parse(agreement) as SessionRecord),
  subscriptions: [...subscriptions]
})
