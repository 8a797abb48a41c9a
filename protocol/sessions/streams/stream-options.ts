export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /** For a reply that this node begins: the response its client gets when the process dies before it has answered. Its response ends it. */
  interruptedResponse?: string | undefined
  /** True when a client has been connected before: it may come back for every single event. */
  wasConnected?: boolean
  /** True when another node writes it: it is needed only while a client reads it here. */
  foreign?: boolean
  /** Runs when a client connects, before the store is asked to make this node the reader. */
  onAttach?: () => void
  /** Runs with each event that is written to a client. */
  onWrite?: (text: string) => void
  /** Runs when a client has connected, so that this node is the reader of the stream, which `previous` was before. */
  onAttached?: (previous: string | undefined) => void
  /** Runs when another node has become the reader. */
  onMoved?: () => void
  /** Runs when the stream has ended, or another node writes it, and no client is connected. */
  onClosed?: () => void
}
