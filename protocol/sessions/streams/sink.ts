import type { StreamEvent } from '../../../lib/network/event-stream.js'
import type { AppendOptions, Appended, LoggedEvent, Replay } from '../../store.js'

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
  /** Begins the stream of a reply. */
  open (interruptedResponse: string): Promise<void>
  append (event: LoggedEvent, seen: boolean, options: AppendOptions): Promise<Appended>
  /** The events after a number; undefined when the store cannot give them. */
  read (after: number | undefined): Promise<Replay | undefined>
  /** The events after a number, or those no client has seen yet, and makes this node the reader of the stream. */
  attach (after: number | undefined): Promise<Replay | undefined>
  /** True while this node is the reader; also when the store does not say. */
  isReader (): Promise<boolean>
  markSeen (number: number): void
  end (): Promise<void>
}

export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /** For a reply that this node begins: the response its client gets when the process dies before it has answered. Its response ends it. */
  interruptedResponse?: string | undefined
  /** True when a client has been connected before: it may come back for every single event. */
  wasConnected?: boolean
  /** True when another node writes it: it is needed only while a client reads it here. */
  foreign?: boolean
  /** Runs when a client has connected, so that this node is the reader of the stream, which `previous` was before. */
  onAttached?: (previous: string | undefined) => void
  /** Runs when another node has become the reader. */
  onMoved?: () => void
  /** Runs when the stream has ended, or another node writes it, and no client is connected. */
  onClosed?: () => void
}
