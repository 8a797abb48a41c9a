import type { LogLevel } from './wire/log-level.js'

/**
 * The one storage port. A write is acknowledged when its promise settles, and from then on survives the death of this process, as far
 * as the adapter survives it at all. What cannot be kept rejects with an `McpError` that says why; nothing is dropped quietly.
 */
export interface Store {
  readonly kind: 'memory' | 'disk'
  readonly values: Values
  readonly sessions: SessionStore
  /** Why the latest write failed; undefined while all is well. */
  readonly trouble: string | undefined
  /** Hears when that changes. */
  onTrouble (listener: () => void): () => void
  close (): Promise<void>
}

export interface Entry { key: string, value: unknown }

export interface PutOptions {
  /** When the value ceases to exist, in milliseconds since 1970. */
  expires?: number
  /** How many entries the space may have: a new one beyond that is refused. */
  max?: number
  /** Leaves a value that is there as it is. */
  ifAbsent?: boolean
}

export interface ListOptions { after?: string | undefined, limit?: number, descending?: boolean }

/** JSON values by key. A space keeps those of one kind; keys are in the order of their code points. */
export interface Values {
  get (space: string, key: string): Promise<unknown>
  put (space: string, key: string, value: unknown, options?: PutOptions): Promise<void>
  /** False when there was nothing. */
  delete (space: string, key: string): Promise<boolean>
  list (space: string, options?: ListOptions): Promise<Entry[]>
  /** The same, without the values. */
  keys (space: string, options?: ListOptions): Promise<string[]>
  /** Adds to a number, from 0, in one step, and gives the sum. Refuses a sum that is no safe integer. */
  increment (space: string, key: string, by: number): Promise<number>
  /** Hears of every change, also of those that other processes make. */
  onChange (listener: ChangeListener): () => void
}

export type ChangeListener = (space: string, key: string) => void

/** What is agreed with the client of a session. */
export interface SessionRecord {
  revision: string | undefined
  greeted: boolean
  client: unknown
  capabilities: Record<string, unknown>
  logLevel: LogLevel
  subscriptions: string[]
  principal: string | undefined
}

/** What is agreed, without what is kept for itself. */
export type Agreement = Omit<SessionRecord, 'subscriptions'>

/** What has changed since a session was kept: `agreement` only if that did, and each URI with whether it is subscribed to. */
export interface SessionChange { agreement?: Agreement | undefined, subscriptions: ReadonlyMap<string, boolean> }

/** A message of a stream; an answer has no method. */
export interface LoggedEvent { text: string, method: string }
export interface NumberedEvent extends LoggedEvent { number: number }

/** What follows an event: `after` is its number, `ended` says that nothing will be added. */
export interface Replay { after: number, events: NumberedEvent[], ended: boolean }

/** Sessions and the events of their streams. Removing a session removes its streams. */
export interface SessionStore {
  /** Keeps a session, new or known, and makes it ours: whoever had it can add nothing to its streams. `home` is where it is served. */
  save (id: string, record: SessionRecord, home: string, expires: number): Promise<void>
  load (id: string): Promise<SessionRecord | undefined>
  /** Keeps what has changed in a session; false when it is gone or another's. */
  update (id: string, change: SessionChange, expires: number): Promise<boolean>
  /** Makes a session that has not expired ours, in one step; undefined when there is none. */
  adopt (id: string, home: string, expires: number): Promise<SessionRecord | undefined>
  /** The ids of the sessions of a home that have not expired. */
  livingAt (home: string): Promise<string[]>
  touch (ids: string[], expires: number): Promise<void>
  remove (id: string): Promise<void>
  /** Removes what has expired; of others only what expired long ago, since whoever serves it may be late to say that it is in use. */
  sweep (): Promise<void>
  /** Hears of sessions that another process has removed or serves now. */
  onTaken (listener: (id: string) => void): () => void
  /** Begins a stream. `lastWord` is what its client is told when the process that writes it dies. */
  open (id: string, stream: string, lastWord: string): Promise<void>
  /** Numbers an event and keeps it, in one step. Undefined when there is no such session, or the stream has ended. `seen` says that a client is there to see it. */
  append (id: string, stream: string, event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined>
  /** Says up to which event a client has seen the stream. */
  saw (id: string, stream: string, number: number): Promise<void>
  end (id: string, stream: string): Promise<void>
  /** Ends the replies that were begun and not ended, in one step, each with its last word unless it has its answer. */
  finish (id: string): Promise<void>
  /** What follows event `after`, or what nobody has seen yet. Undefined when there is no such stream or it does not reach back that far. */
  read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined>
}

/** The stream of a session that carries what belongs to no call. It is there as long as the session and has no last word. */
export const STANDALONE = '0'

/** How much of its events a session keeps: per stream, and of finished streams together. */
export const KEPT = { events: 1_000, text: 1_048_576, streams: 256 } as const

export interface StreamSummary { stream: string, size: number, ended: boolean, seen: boolean }

/**
 * Which replies of a session to give up, oldest first as they are given: finished ones, and those nobody has fetched yet last.
 * The newest is always kept.
 */
export function surplus (all: StreamSummary[]): string[] {
  const streams = all.filter(({ stream }) => stream !== STANDALONE)
  const ended = streams.slice(0, -1).filter(stream => stream.ended)
  let count = streams.length
  let text = streams.reduce((sum, { size }) => sum + size, 0)
  return [...ended.filter(({ seen }) => seen), ...ended.filter(({ seen }) => !seen)].flatMap(({ stream, size }) => {
    if (count <= KEPT.streams && text <= KEPT.text) return []
    count--
    text -= size
    return [stream]
  })
}

/** The same values, in spaces of their own: whoever uses these cannot meet those who use others. */
export function scoped (values: Values, prefix: string): Values {
  return {
    get: async (space, key) => await values.get(prefix + space, key),
    put: async (space, key, value, options) => await values.put(prefix + space, key, value, options),
    delete: async (space, key) => await values.delete(prefix + space, key),
    list: async (space, options) => await values.list(prefix + space, options),
    keys: async (space, options) => await values.keys(prefix + space, options),
    increment: async (space, key, by) => await values.increment(prefix + space, key, by),
    onChange: listener => values.onChange((space, key) => { if (space.startsWith(prefix)) listener(space.slice(prefix.length), key) })
  }
}
