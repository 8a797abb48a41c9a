/** Somewhere messages can be written: a stdout, a socket, one HTTP reply, an SSE stream. Text in, bytes out; never throws. */
export interface Channel {
  /** False where only an answer can be sent, such as `POST /message`; what is emitted there is dropped. */
  readonly streams: boolean
  /** The answer. `status` is what HTTP says of it; other wires ignore it. */
  respond (text: string, status: number): void
  /** A notification, or a request to the client. */
  emit (text: string, method: string): void
  /** There will be no answer: a notification was taken, or the call was cancelled. */
  end (): void
  /** Lets the connection go while the call runs on; the client fetches the rest later. Only where replies can be resumed. */
  release? (retryMs: number): void
}
