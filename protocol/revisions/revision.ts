import type { PreparedResult } from '../wire/result.js'

/** Features and forms of one protocol version. Handlers ask it; they never compare versions. */
export interface Revision {
  readonly version: string
  /** Every request stands for itself: no handshake, no session, questions travel inside results. */
  readonly stateless: boolean
  readonly batches: boolean
  /** An SSE reply may be let go and fetched again later (`retry`, a first event without data). */
  readonly polling: boolean
  /**
   * Bad arguments and a tool's `McpError` are `isError` results, so that the model can see them; a success says
   * `isError: false`.
   */
  readonly errorsAsResults: boolean
  readonly unknownResource: number
  readonly unknownMethodStatus: number
  /** The id of an error where that of the request is unreadable: written as null, or left out. */
  readonly missingId: null | undefined
  readonly features: Features
  /** How work becomes a task: the client asks for it in its request, or it is declared as an extension. */
  readonly tasks: 'none' | 'requested' | 'extension'
  /** False for a method of the specification that this revision does not know. Methods of plugins exist in all. */
  has (method: string): boolean
  /** False for methods whose answer may not be a question back. */
  mayRequestInput (method: string): boolean
  /** The result as JSON text, with what this revision puts on every result. */
  encode (result: object | PreparedResult, server: Server): string
  /** Adds caching hints where the revision has them. */
  cached<R extends object> (result: R, hints: CacheHints): R
}

export interface CacheHints { ttlMs: number, cacheScope: 'public' | 'private' }

/**
 * How the server names itself: `info` as data, `stamp` as the JSON of a result's `_meta`; `instructions` are for the
 * client's model.
 */
export interface Server { info: Implementation, instructions: string | undefined, stamp: string }

export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: object[]
}

/** The vocabulary of a revision: a message is trimmed to it before it is sent. */
export interface Features {
  readonly audio: boolean
  readonly toolAnnotations: boolean
  readonly completions: boolean
  readonly progressMessage: boolean
  /** `title` and `_meta` on definitions, resource links, `structuredContent`. */
  readonly titles: boolean
  readonly structured: 'none' | 'object' | 'any'
  readonly icons: boolean
  readonly elicitation: 'none' | 'form' | 'url'
  readonly elicitationIds: boolean
  readonly samplingTools: boolean
  /** `execution` on tools. */
  readonly execution: boolean
}
