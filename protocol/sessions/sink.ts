import type { StreamEvent } from '../../lib/network/event-stream.js'
import type { LoggedEvent, Replay } from '../store.js'

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

/**
 * The stored events of one stream. Nothing here rejects: an event that could not be stored has no number, and `taken` means that another
 * node serves the session and sends the event.
 */
export interface StreamLog {
  append (event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined>
  /** The events after a number, or those no client has seen yet; undefined when the store cannot give them. */
  read (after: number | undefined): Promise<Replay | undefined>
  markSeen (number: number): void
  end (): Promise<void>
}
