import type { Nodes } from './nodes/nodes.js'
import type { LogLevel } from './wire/log-level.js'

/**
 * The storage port. A write is acknowledged when its promise settles; an adapter that outlives the process keeps it
 * from then on, also when the process is killed. A write that fails rejects with an `McpError` that names the reason.
 */
export interface Store {
  readonly kind: 'memory' | 'disk' | 'redis'
  readonly values: Values
  readonly sessions: SessionStore
  readonly nodes: Nodes
  /** Why the latest write failed; undefined while writes succeed. */
  readonly failure: string | undefined
  /** Adds a listener for when `failure` changes; returns a function that removes it. */
  onFailureChange (listener: () => void): () => void
  close (): Promise<void>
}

/** Is told of what a store does. */
export interface StoreObserver {
  /** An operation has ended, well or not. */
  operation (op: string, ms: number): void
  /** An event was appended to a stream. */
  appended (): void
  /** So many events were read again for a client that came back. */
  replayed (count: number): void
  /** A message to another node was sent. */
  messageSent (kind: string, outcome: 'delivered' | 'absent' | 'failed'): void
}

export interface Entry { key: string, value: unknown }

export interface PutOptions {
  /** When the value expires, in milliseconds since 1970. */
  expires?: number
  /** The most entries the space may have; one more is refused. */
  max?: number
  /** Keeps the present value if there is one. */
  ifAbsent?: boolean
}

export interface ListOptions { after?: string | undefined, limit?: number, descending?: boolean }

/** JSON values by key, in named spaces. Keys are sorted by code point. */
export interface Values {
  get (space: string, key: string): Promise<unknown>
  put (space: string, key: string, value: unknown, options?: PutOptions): Promise<void>
  /** Replaces a value that still is `before`, as JSON text, in one step: of several that do so, one gets true. */
  swap (space: string, key: string, before: unknown, after: unknown, options?: Pick<PutOptions, 'expires'>): Promise<boolean>
  /** False if there was no such key. */
  delete (space: string, key: string): Promise<boolean>
  /** Deletes a value and returns it, in one step: of several that take it, one gets it. */
  take (space: string, key: string): Promise<unknown>
  list (space: string, options?: ListOptions): Promise<Entry[]>
  /** Like `list`, without the values. */
  keys (space: string, options?: ListOptions): Promise<string[]>
  /** Adds to a number (0 if there is none) in one step. Returns the sum, and refuses one that is no safe integer. */
  increment (space: string, key: string, by: number): Promise<number>
  /** Adds a listener for every change, also of other processes; returns a function that removes it. */
  onChange (listener: ChangeListener): () => void
  /** Adds a listener for missed changes of other processes, after which any value may be another; likewise. */
  onMissedChanges (listener: () => void): () => void
}

export type ChangeListener = (space: string, key: string) => void

/** The state of a session that is stored: what was negotiated with its client, and its subscriptions. */
export interface SessionRecord {
  revision: string | undefined
  initialized: boolean
  client: unknown
  capabilities: Record<string, unknown>
  logLevel: LogLevel
  subscriptions: string[]
  principal: string | undefined
  /** The view that it was opened on; absent for the whole gateway, as in all records from before there were views. */
  view?: string | undefined
  /** True while the client reads named events, at whichever node; absent otherwise. */
  named?: boolean | undefined
}

/** The agreement with the client of a session. */
export type Agreement = Omit<SessionRecord, 'subscriptions'>

/**
 * The changes since a session was stored: those members of the agreement that did, and true for each URI subscribed
 * to, false for each unsubscribed. Two nodes may change different members at the same time.
 */
export interface SessionChange {
  agreement?: Partial<Agreement> | undefined
  subscriptions: ReadonlyMap<string, boolean>
}

/** A session as it is stored. Its home is the node that sends its client what belongs to no call. */
export interface StoredSession { record: SessionRecord, home: string | undefined }

/** A message of a stream. The method of a response is ''. */
export interface LoggedEvent { text: string, method: string }
/** `after` is the number of the event before it, 0 for the first. */
export interface NumberedEvent extends LoggedEvent { number: number, after: number }

/** The events after number `after`. No more follow if `ended`. `previous` is another node that read it before. */
export interface Replay { after: number, events: NumberedEvent[], ended: boolean, previous?: string }

/** How an event is appended. */
export interface AppendOptions {
  /** The highest number that this node knows of: a store that has lost events does not give their numbers again. */
  last?: number | undefined
  /** Begins the reply, if it has not begun, as `open` does with this interrupted response. */
  begins?: string | undefined
  /** Ends the stream after the event. */
  ends?: boolean | undefined
  /**
   * True for an announcement, which only the home of the session makes. A store that every node hears changes from, in
   * their order, does not store one of another node: the home makes the same.
   */
  announces?: boolean | undefined
  /** Called after `late` with what became of the event. */
  onLate?: ((appended: Appended) => void) | undefined
}

/**
 * The place of an event that was appended; `elsewhere` when another node sends it to the client; `ended` when it was
 * not appended, because another node has ended the stream; `late` when an event that counts as seen is not stored yet,
 * and should be sent before it is.
 */
export type Appended = Place | 'elsewhere' | 'ended' | 'late' | undefined

/** The number of an event, and of the one before it. */
export interface Place { number: number, after: number }

/**
 * News of a stream that this node reads and another writes: an event it appended, some events or the end, or it reads
 * the stream now.
 */
export type StreamNews = NumberedEvent | 'more' | 'moved'

/**
 * Sessions and the events of their streams, which several nodes may serve at the same time. A reply is written by the
 * node that began it, the standalone stream by all; each stream is read by one node: the last that attached to it.
 * Removing a session removes its streams.
 */
export interface SessionStore {
  /**
   * Stores a new session, whose home is this node; false, and it is not stored, if its principal has `max` sessions at
   * all nodes together.
   */
  save (id: string, record: SessionRecord, expires: number, max?: number): Promise<boolean>
  load (id: string): Promise<StoredSession | undefined>
  /** Stores what has changed in a session, and announces it to the other nodes; false if the session was removed. */
  update (id: string, change: SessionChange, expires: number): Promise<boolean>
  /** Makes this node the home of a session if that still is `previous`; false if it is not. */
  moveHome (id: string, previous: string | undefined): Promise<boolean>
  /**
   * Makes this node the home of sessions whose home has ended, as have all nodes that had this address before; the ids
   * of those sessions.
   */
  takeOver (address: string): Promise<string[]>
  touch (ids: string[], expires: number): Promise<void>
  /** Removes a session, and announces it to the other nodes. */
  remove (id: string): Promise<void>
  /** Removes a session unless another node has stored a later expiry than this. */
  removeUnused (id: string, expires: number): Promise<void>
  /** Removes expired sessions. */
  sweep (): Promise<void>
  /**
   * Adds a listener for sessions that another node changed or removed, without an id for all of them; returns a
   * function that removes it.
   */
  onChange (listener: (id?: string) => void): () => void
  /**
   * Begins the stream of a reply, which only this node writes. `interruptedResponse` is the response its client gets if
   * the node dies before it has answered.
   */
  open (id: string, stream: string, interruptedResponse: string): Promise<void>
  /**
   * Numbers an event and stores it, in one step; `seen` if a client is connected to the stream here. Undefined if there
   * is no such session.
   */
  append (id: string, stream: string, event: LoggedEvent, seen: boolean, options?: AppendOptions): Promise<Appended>
  /** Records up to which event a client has read the stream, if this node is its reader. */
  markSeen (id: string, stream: string, number: number): Promise<void>
  end (id: string, stream: string): Promise<void>
  /**
   * Ends the replies whose writers have died, in one step, and tells their readers; those without a response get their
   * `interruptedResponse`. The other nodes that are writing replies.
   */
  finish (id: string): Promise<string[]>
  /**
   * The events after number `after`, or those not seen yet. Undefined if there is no such stream or they are no longer
   * stored.
   */
  read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined>
  /** Like `read`, and makes this node the stream's reader. Of the standalone stream it becomes the home. */
  attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined>
  /** True while this node is the stream's reader. */
  isReader (id: string, stream: string): Promise<boolean>
  /** Adds a listener for news in streams that this node reads and others write; returns a function that removes it. */
  onNews (listener: (id: string, stream: string, news: StreamNews) => void): () => void
}

/**
 * The stream of a session for messages that belong to no call. It exists as long as the session and has no interrupted
 * response.
 */
export const STANDALONE = '0'

/** How many events and characters are stored per stream, and how many replies and characters per session. */
export const STREAM_LIMITS = { events: 1_000, text: 1_048_576, streams: 256 } as const

export interface StreamSummary { stream: string, size: number, ended: boolean, seen: boolean }

/**
 * The replies of a session to delete, oldest first: finished ones that their client has read, then finished ones that
 * it has not. The newest is always kept.
 */
export function surplusStreams (all: StreamSummary[]): string[] {
  const streams = all.filter(({ stream }) => stream !== STANDALONE)
  const ended = streams.slice(0, -1).filter(stream => stream.ended)
  let count = streams.length
  let text = streams.reduce((sum, { size }) => sum + size, 0)
  return [...ended.filter(({ seen }) => seen), ...ended.filter(({ seen }) => !seen)].flatMap(({ stream, size }) => {
    if (count <= STREAM_LIMITS.streams && text <= STREAM_LIMITS.text) return []
    count--
    text -= size
    return [stream]
  })
}

/** Puts a prefix before the name of each space, so that users of other prefixes cannot reach its values. */
export function prefixSpaces (values: Values, prefix: string): Values {
  return {
    get: async (space, key) => await values.get(prefix + space, key),
    put: async (space, key, value, options) => await values.put(prefix + space, key, value, options),
    swap: async (space, ...rest) => await values.swap(prefix + space, ...rest),
    delete: async (space, key) => await values.delete(prefix + space, key),
    take: async (space, key) => await values.take(prefix + space, key),
    list: async (space, options) => await values.list(prefix + space, options),
    keys: async (space, options) => await values.keys(prefix + space, options),
    increment: async (space, key, by) => await values.increment(prefix + space, key, by),
    onChange: listener =>
      values.onChange((space, key) => {
        if (space.startsWith(prefix)) listener(space.slice(prefix.length), key)
      }),
    onMissedChanges: listener => values.onMissedChanges(listener)
  }
}
