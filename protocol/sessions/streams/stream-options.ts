/** Hears of the reader of a stream: the node that sends its events to a client. */
export interface ReaderListener {
  /** Runs when a client connects, before the store is asked to make this node the reader. `onAttached` follows. */
  onAttach (): void
  /** Runs when this node is the reader, which `previous` was before, or the store does not say. */
  onAttached (previous: string | undefined): void
  /** Runs with each stored event that is written to a client. */
  onWrite (text: string): void
  /** Runs when another node is the reader. */
  onMoved (): void
}

export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /**
   * For a reply that this node begins: the response its client gets when the process dies before it has answered. Its
   * response ends it.
   */
  interruptedResponse?: string | undefined
  /** True when another node writes it: it is needed only while a client reads it here. */
  foreign?: boolean
  reader?: ReaderListener
  /** Runs when the stream has ended, or another node writes it, and no client is connected. */
  onClosed?: () => void
}
