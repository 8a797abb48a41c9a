import type { AppendOptions, Appended, LoggedEvent, Replay } from '../../store.js'

/** A server-sent event. A response has no `method`, or an empty one. */
export interface StreamEvent { id?: string, text: string, method?: string, retry?: number }

/** One connection of a client to a stream. */
export interface Sink {
  /** True where events have an `event:` name, as on `/mcp/sse`. */
  readonly named?: boolean
  write (event: StreamEvent): void
  end (): void
  /** Ends the HTTP reply and closes its socket. */
  close (): void
  /** How many bytes wait to be written. */
  unwritten? (): number
  /** True while more than `maxQueue` bytes wait to be written: the client has to read before it sends more requests. */
  isFull? (): boolean
}

/** The outcome of a read of a stream: undefined when the events are not stored, `unavailable` when the store fails. */
export type LogRead = Replay | 'unavailable' | undefined

/** The stored events of one stream. Nothing here rejects: an event that could not be stored has no number. */
export interface StreamLog {
  /** Begins the stream of a reply. */
  open (interruptedResponse: string): Promise<void>
  append (event: LoggedEvent, seen: boolean, options: AppendOptions): Promise<Appended>
  /** The events after a number, or those no client has seen yet. */
  read (after: number | undefined): Promise<LogRead>
  /** Reads as `read` does, and makes this node the reader of the stream. */
  attach (after: number | undefined): Promise<LogRead>
  /** True while this node is the reader; also when the store does not say. */
  isReader (): Promise<boolean>
  /** Records up to which event the client has read, some time soon. */
  markSeen (number: number): void
  end (): Promise<void>
}
