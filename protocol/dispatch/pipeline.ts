import type { Call } from './call.js'
import { errors, type McpError } from '../wire/errors.js'
import { grants } from '../wire/identity.js'
import type { Params } from '../wire/jsonrpc.js'
import { isThenable, type PreparedResult } from '../wire/result.js'
import type { Check } from '../schema/schema.js'

export type Result = object | PreparedResult
export type Handler<P = Params> = (params: P, call: Call) => Result | Promise<Result>
export type Middleware = (call: Call, next: () => Promise<Result>) => Promise<Result>
/** Lets a call pass, or throws why not. */
export type Gate = (call: Call) => void | Promise<void>

/** How HTTP tells a client which scopes it has to ask for. */
export type Challenge = (scopes: readonly string[]) => string

export type AuditSubject = { tool: string } | { resource: string } | { prompt: string }

/** What a request is about: what it is called where it is registered, and the scopes it takes. */
export interface Target { auditSubject?: AuditSubject, scopes: readonly string[] }

export interface MethodOptions {
  /** False for calls that last as long as their client wants. */
  timed?: boolean
  /** What a caller must have been granted: `mcp` when nothing is said, nothing when it is empty, and for a function whatever its target asks for. */
  scopes?: readonly string[] | ((params: Params, call: Call) => Target | undefined)
  /** What those are told who were not granted it and need not know that it is there. */
  unknown?: (params: Params, call: Call) => McpError
}

export interface Method {
  check: Check
  handle: Handler
  timed: boolean
  /** Undefined when there is no such thing. */
  target: (params: Params, call: Call) => Target | undefined
  unknown: (params: Params, call: Call) => McpError
}

/** What every call goes through, whatever brought it here: scopes, then the gates, then middleware, then the handler. */
export class Pipeline {
  readonly #challenge: Challenge
  readonly #gates: Gate[] = []
  readonly #middleware: Middleware[] = []

  constructor (challenge: Challenge = insufficientScope) {
    this.#challenge = challenge
  }

  gate (gate: Gate): void {
    this.#gates.push(gate)
  }

  use (middleware: Middleware): void {
    this.#middleware.push(middleware)
  }

  /** Without anything that waits, the result is there at once. */
  run (call: Call, method: Method): Result | Promise<Result> {
    this.#checkScopes(call, method)
    return this.#runGates(call, method, 0)
  }

  #runGates (call: Call, method: Method, first: number): Result | Promise<Result> {
    for (let index = first; index < this.#gates.length; index++) {
      const passed = this.#gates[index]?.(call)
      if (isThenable(passed)) return this.#afterGate(passed, call, method, index + 1)
    }
    return this.#runHandler(call, method, 0)
  }

  // Where functions are made, what they use is put aside for them at once, needed or not: so they are made apart from where every call goes.
  async #afterGate (passed: PromiseLike<unknown>, call: Call, method: Method, next: number): Promise<Result> {
    await passed
    // A call that was given up while it waited is not run.
    return call.response.isClosed ? {} : await this.#runGates(call, method, next)
  }

  #runHandler (call: Call, method: Method, depth: number): Result | Promise<Result> {
    const middleware = this.#middleware[depth]
    if (middleware !== undefined) return this.#runMiddleware(middleware, call, method, depth)
    const wrong = method.check(call.params)
    if (wrong !== undefined) throw errors.invalidParams(wrong)
    // Something else may be there by now.
    this.#checkScopes(call, method)
    return method.handle(call.params, call)
  }

  #runMiddleware (middleware: Middleware, call: Call, method: Method, depth: number): Promise<Result> {
    return middleware(call, async () => await this.#runHandler(call, method, depth + 1))
  }

  // What HTTP can say in a way that a client understands, it says; elsewhere it is as if the thing were not there.
  #checkScopes (call: Call, { target, unknown }: Method): void {
    if (call.identity.scopes === 'all') return
    const wanted = target(call.params, call)
    if (wanted === undefined || grants(call.identity, wanted.scopes)) return
    call.denied = true
    throw call.channel.hasStatus === true ? errors.forbidden(wanted.scopes, this.#challenge(wanted.scopes)) : unknown(call.params, call)
  }
}

const insufficientScope: Challenge = scopes => `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`
