import type { Revision } from '../../protocol/revisions/revision.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Message, Id, Params } from '../../protocol/wire/jsonrpc.js'
import type { MessageLimits } from '../../protocol/wire/limits.js'
import type { Credential } from './credential.js'
import type { ReplyBudget } from './reply-budget.js'

/** How much an upstream may send. */
export interface LinkLimits {
  /** The largest message, in bytes. */
  readonly maxMessage: number
  /** Limits of a message, and those of a page of a list. */
  readonly limits: MessageLimits
  readonly listLimits: MessageLimits
  /** How many messages that no request asked for may come in a second. */
  readonly maxUnasked: number
  /** Bounds the bytes of incomplete replies of all upstreams. */
  readonly replies: ReplyBudget
}

/** The options of a link to a URL. */
export interface UrlLinkOptions extends LinkLimits {
  /** The token of each request, where it is not in the configured headers. */
  readonly credential?: Credential | undefined
}

/** A request that is about to be sent on a link. */
export interface LinkRequest {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** The version of the protocol that the request names itself, in revisions without a handshake. */
  readonly version?: string | undefined
  /** The caller whose request it serves; undefined for one of the gateway's own. */
  readonly caller?: string | undefined
  /** More headers for this request, such as `Mcp-Param-*`, where the link has headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * A connection to an upstream server: a process, a socket, or a URL that takes HTTP requests. Nothing in it knows
 * methods beyond what their transport demands.
 */
export interface Link {
  readonly transport: 'stdio' | 'http' | 'sse' | 'websocket'
  /** Where notifications, and responses to requests of the upstream, are written. */
  readonly channel: Channel
  /**
   * Settles when the server has written its first bytes, be they no message; absent where a link is open only when the
   * server is.
   */
  readonly alive?: Promise<void>
  /**
   * Where one request and its cancellation are written. The same as `channel` unless each request has a stream of its
   * own.
   */
  channelFor (request: LinkRequest): Channel
  /** Sets the revision that was negotiated; links that have headers or streams depend on it. */
  setRevision (revision: Revision): void
  /** Ends the connection and everything that was started for it. Settles when nothing of it is left; never rejects. */
  close (): Promise<void>
}

/** Reports of a link. All of them stop after `closed`. */
export interface LinkEvents {
  /**
   * A message came. `on` is the channel of the request on whose stream it came; undefined where one stream carries all.
   * `status` is that of the HTTP reply that had the message as its body, if it is not 200. An error body without an id
   * has that of the request it answers. Returns true for the response to a request that was sent, also if that was
   * cancelled a moment ago.
   */
  message (message: Message, on: Channel | undefined, status?: number): boolean
  /**
   * A request failed without a response from the upstream; `error` says why, for people. `status` is that of the HTTP
   * reply, if there was one. Without an id it cannot be known which one failed, so all that are pending do.
   */
  failed (id: Id | undefined, error: Error, status?: number): void
  /**
   * The upstream has forgotten what was negotiated, for example its session: the connection has to be opened anew. `id`
   * is the request that it refused for that reason, and therefore did not run; it is reported here and not to `failed`.
   */
  expired? (id: Id | undefined): void
  /** The link is of no use any more. Called once, also after `close`. */
  closed (why: Error): void
}

/** Opens a link. Rejects with a sentence that says what to do; the signal ends the attempt. */
export type Dial = (events: LinkEvents, signal: AbortSignal) => Promise<Link>
