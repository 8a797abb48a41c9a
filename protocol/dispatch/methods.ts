import { chain } from '../../lib/awaitable.js'
import { jsonSchemaOf, lazily, type AnySchema, type Check } from '../schema/schema.js'
import { isStandardSchema, parserOf } from '../schema/standard-schema.js'
import { errors, type McpError } from '../wire/errors.js'
import { DEFAULT_SCOPES } from '../wire/identity.js'
import type { Params } from '../wire/jsonrpc.js'
import type { PreparedResult } from '../wire/result.js'
import type { Call } from './call.js'
import type { Target } from './target.js'

export type Result = object | PreparedResult

/** Answers a method; `item` is what the method's `target` found. */
export type Handler<P = Params, T = unknown> = (params: P, call: Call, item: T | undefined) => Result | Promise<Result>

export interface MethodOptions<T = unknown> {
  /** False for calls that last as long as their client wants. */
  timed?: boolean
  /** The scopes a caller needs: `mcp` when absent, none when it is empty. */
  scopes?: readonly string[]
  /** Looks up what the request is about, which has scopes of its own; undefined when there is no such thing. */
  target?: (params: Params, call: Call) => Target<T> | undefined
  /**
   * Finds the params of the request that a client of a view means, where it sent another that stands for it. The call
   * is made with them: all that is checked, counted and answered is that request.
   */
  meant?: ((params: Params, caller: Caller) => Params) | undefined
  /** True for a method that does not seem to exist to callers without its scopes, over HTTP either. */
  hidden?: boolean
  /**
   * The error for a caller that lacks the scopes, on transports without HTTP status: the same as for a thing that does
   * not exist.
   */
  unknown?: (params: Params, call: Call) => McpError
}

/** The client of a request that is not a call yet. */
export type Caller = Pick<Call, 'peer' | 'channel' | 'identity'>

export interface Method
  extends Required<Pick<MethodOptions, 'timed' | 'target' | 'hidden' | 'unknown'>>, Pick<MethodOptions, 'meant'> {
  check: Check
  handle: Handler
}

/** The methods that clients can call, by name. */
export class Methods {
  readonly #all = new Map<string, Method>()

  /** Returns a function that removes it. */
  add (name: string, schema: AnySchema, handle: Handler, options: MethodOptions = {}): () => void {
    if (this.#all.has(name)) throw new Error(`method ${name} is registered already`)
    const {
      timed = true,
      scopes = DEFAULT_SCOPES,
      hidden = false,
      unknown = () => errors.methodNotFound(name)
    } = options
    const whole: Target = { scopes }
    const method = {
      check: lazily(jsonSchemaOf(schema, 'input')),
      handle: withParser(schema, handle),
      timed,
      target: options.target ?? (() => whole),
      meant: options.meant,
      hidden,
      unknown
    }
    this.#all.set(name, method)
    return () => { if (this.#all.get(name) === method) this.#all.delete(name) }
  }

  get (name: string): Method | undefined {
    return this.#all.get(name)
  }
}

/** The handler with the parser of its schema, if it has one, before it. */
function withParser (schema: AnySchema, handle: Handler): Handler {
  if (!isStandardSchema(schema)) return handle
  const parse = parserOf(schema, ({ text }) => errors.invalidParams(text))
  return (given, call, item) => chain(parse(given), params => handle(params as Params, call, item))
}
