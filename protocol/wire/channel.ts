import { encodeResult, encodeStart, type Id } from './jsonrpc.js'
import type { Narrowing } from './narrowing.js'
import type { SharedTail } from './result.js'

export type Headers = Record<string, string | string[] | undefined>

/**
 * Somewhere messages can be written: a stdout, a socket, one HTTP reply, an SSE stream. Text in, bytes out; never
 * throws.
 */
export interface Channel {
  /**
   * False where only an answer can be sent, such as `POST /message`, or while too many streams are open; what is
   * emitted there is dropped.
   */
  readonly streams: boolean
  /** True where there could be a stream, if not so many were open. */
  readonly canStream?: boolean
  /** True where the client has got its response already and the work goes on: nothing can be asked there. */
  readonly isAnswered?: boolean
  /** True where the answer is an HTTP reply of its own, so that its status and headers reach the client. */
  readonly hasStatus?: boolean
  /** True where the message came with an HTTP request, which was counted against the rate of its caller. */
  readonly isRateCounted?: boolean
  /** True where any page may make the request, by a link or a picture: it runs tools that say that they only read. */
  readonly onlyReads?: boolean
  /** The headers of the HTTP request that brought the message, where it had one of its own. */
  readonly headers?: Headers | undefined
  /** The address of the caller, as the application that trusts a proxy has it from the proxy, where it is known. */
  readonly address?: string | undefined
  /** The part of its view that the request, or the connection of a stream of messages, asks for. */
  readonly narrowing?: Narrowing | undefined
  /** True where a proxy brought the connection that carries the messages. */
  readonly proxied?: boolean | undefined
  /**
   * Gets the error behind the internal error that is responded next, and undefined after that; only where the client
   * may know it, in the same process.
   */
  setCause? (error: unknown): void
  /**
   * The text of a result, where this channel has a form of its own for results; `respond` gets it as it is. An error
   * that is thrown is the answer instead.
   */
  encode? (result: object): string
  /** The text that says where the result of a call will be, where this channel has a form of its own for that. */
  encodeAccepted? (uri: string): string
  /** Writes the response. `status` and `headers` are for HTTP; other transports ignore them. */
  respond (text: string, status: number, headers?: Record<string, string>): void
  /** The response in two parts, of which many responses share the second; where it is absent, `respond` gets both. */
  respondShared? (start: string, tail: SharedTail): void
  /** A notification, or a request to the client. */
  emit (text: string, method: string): void
  /** Sends a notification that is not stored for resumption; only where `emit` stores them. */
  emitTransient? (text: string, method: string): void
  /** How many bytes wait to be written; absent where none do. */
  unwritten? (): number
  /** True while no client reads what is emitted; only where clients may come back. */
  isDetached? (): boolean
  /** There is no response: the message was a notification, or the call was cancelled. */
  end (): void
  /**
   * Lets the connection go while the call runs on; the client fetches the rest later. Only where replies can be
   * resumed.
   */
  release? (retryMs: number): void
}

/** Sends a result: JSON text, or the tail that many responses share. */
export function respondOn (channel: Channel, id: Id, result: string | SharedTail): void {
  if (typeof result === 'string') channel.respond(channel.encode === undefined ? encodeResult(id, result) : result, 200)
  else if (channel.respondShared === undefined) channel.respond(encodeStart(id) + result.text, 200)
  else channel.respondShared(encodeStart(id), result)
}
