import type { StreamEvent } from '../../../lib/network/event-stream.js'
import type { Appended, LoggedEvent, Replay } from '../../store.js'

/** One connection of a client to a stream. */
export interface Sink {
  /** True where events have an `event:` name, as on `/mcp/sse`. */
  readonly named?: boolean
  write (event: StreamEvent): void
  end (): void
  /** Ends the HTTP reply and closes its socket. */
  close (): void
  /** True while more than `maxQueue` bytes wait to be written: the client has to read before it sends more requests. */
  isFull? (): boolean
}

/** The stored events of one stream. Nothing here rejects: an event that could not be stored has no number. */
export interface StreamLog {
  /** `last` is the highest number that is known here. */
  append (event: LoggedEvent, seen: boolean, last: number): Promise<Appended>
  /** The events after a number; undefined when the store cannot give them. */
  read (after: number | undefined): Promise<Replay | undefined>
  /** The events after a number, or those no client has seen yet, and makes this node the reader of the stream. */
  attach (after: number | undefined): Promise<Replay | undefined>
  /** True while this node is the reader; also when the store does not say. */
  isReader (): Promise<boolean>
  markSeen (number: number): void
  end (): Promise<void>
}
