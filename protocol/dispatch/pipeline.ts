import { errors } from '../wire/errors.js'
import { grants, hasAllScopes } from '../wire/identity.js'
import { isThenable } from '../wire/result.js'
import type { Call } from './call.js'
import type { Method, Result } from './methods.js'

/** Wraps the handler of every call. */
export type Middleware = (call: Call, next: () => Promise<Result>) => Promise<Result>

/** Lets a call pass, or throws an error. */
export type Gate = (call: Call) => void | Promise<void>

/** Decides about a call by its arguments: returns the result of one that is refused, throws, or lets it pass. */
export type Judge = (call: Call) => Result | undefined

/** Asks a person about a call before it runs. */
export type Ask = (call: Call, run: () => Promise<Result>) => Promise<Result>

/**
 * Finds the wait of a call without a target: for a thing that is still to come, or for entries that its list would
 * lack; undefined when nothing is to come.
 */
export type AwaitTarget = (call: Call) => Promise<unknown> | undefined

/** Creates a task for a call that has passed the gates, or refuses it; undefined for a call that is run as usual. */
export type RunAsTask = (call: Call) => Result | Promise<Result> | undefined

/** The `WWW-Authenticate` header that names the scopes a client has to ask for. */
export type ScopeChallenge = (scopes: readonly string[]) => string

/**
 * The way of every call on every transport: its scopes, the rules, what is left out, the gates, the person who is
 * asked, the middleware, the handler.
 */
export class Pipeline {
  readonly #challenge: ScopeChallenge
  readonly #gates: Gate[] = []
  readonly #middleware: Middleware[] = []
  #awaitTarget: AwaitTarget = () => undefined
  #judge: Judge | undefined
  #ask: Ask = (_call, run) => run()
  #runAsTask: RunAsTask = () => undefined

  constructor (challenge: ScopeChallenge = insufficientScope) {
    this.#challenge = challenge
  }

  addGate (gate: Gate): void {
    this.#gates.push(gate)
  }

  addMiddleware (middleware: Middleware): void {
    this.#middleware.push(middleware)
  }

  awaitTargetsWith (awaitTarget: AwaitTarget): void {
    this.#awaitTarget = awaitTarget
  }

  /** Nothing decides where `judge` is undefined. `ask` gets the calls that it marks for that. */
  judgeWith (judge: Judge | undefined, ask: Ask): void {
    this.#judge = judge
    this.#ask = ask
  }

  runTasksWith (runAsTask: RunAsTask): void {
    this.#runAsTask = runAsTask
  }

  /** Returns the result itself, not a promise, where nothing waits. */
  run (call: Call, method: Method): Result | Promise<Result> {
    const awaited = call.target?.item === undefined ? this.#awaitTarget(call) : undefined
    if (awaited !== undefined) return this.#afterTarget(awaited, call, method)
    this.checkScopes(call, method)
    return this.#judge?.(call) ?? this.#afterRules(call, method)
  }

  /**
   * Throws when the caller lacks a scope. HTTP has a status and a header for that; on other transports the thing does
   * not seem to exist.
   */
  checkScopes (call: Call, { hidden, unknown }: Method): void {
    if (hasAllScopes(call.identity) || call.target === undefined) return
    const { scopes } = call.target
    if (grants(call.identity, scopes)) return
    call.denied = true
    throw call.channel.hasStatus === true && !hidden
      ? errors.forbidden(scopes, this.#challenge(scopes))
      : (call.target.unknown?.() ?? unknown(call.params, call))
  }

  async #afterTarget (awaited: Promise<unknown>, call: Call, method: Method): Promise<Result> {
    await awaited
    if (call.response.isClosed) return {}
    call.ruled = undefined
    call.lookUpTarget()
    this.checkScopes(call, method)
    return this.#judge?.(call) ?? await this.#afterRules(call, method)
  }

  /** Refuses what clients do not get before the call is counted, and before a person is asked. */
  #afterRules (call: Call, method: Method): Result | Promise<Result> {
    const leftOut = call.target?.leftOut?.()
    if (leftOut !== undefined) throw leftOut
    return this.#runGates(call, method, this.#firstGate(call))
  }

  /** Each round of a task is judged anew, but its caller passed the gates when the task was created, or answered. */
  #firstGate ({ task }: Call): number {
    return task === undefined ? 0 : this.#gates.length
  }

  // No closures here and in `#runFrom`: V8 would allocate the captured variables on the heap for every call.
  #runGates (call: Call, method: Method, first: number): Result | Promise<Result> {
    for (let index = first; index < this.#gates.length; index++) {
      const passed = this.#gates[index]?.(call)
      if (isThenable(passed)) return this.#afterGate(passed, call, method, index + 1)
    }
    return call.ruled?.asks === undefined ? this.#runWork(call, method) : this.#askFirst(call, method)
  }

  #askFirst (call: Call, method: Method): Promise<Result> {
    return this.#ask(call, async () => await this.#runWork(call, method))
  }

  #runWork (call: Call, method: Method): Result | Promise<Result> {
    return (call.task === undefined ? this.#runAsTask(call) : undefined) ?? this.#runFrom(0, call, method)
  }

  async #afterGate (passed: PromiseLike<unknown>, call: Call, method: Method, next: number): Promise<Result> {
    await passed
    // A call that was given up while it waited is not run.
    return call.response.isClosed ? {} : await this.#runGates(call, method, next)
  }

  /** Runs the middleware from that index on, and then the handler. */
  #runFrom (index: number, call: Call, method: Method): Result | Promise<Result> {
    const middleware = this.#middleware[index]
    return middleware === undefined ? runHandler(call, method) : this.#runMiddleware(middleware, index, call, method)
  }

  #runMiddleware (middleware: Middleware, index: number, call: Call, method: Method): Promise<Result> {
    return middleware(call, async () => await this.#runFrom(index + 1, call, method))
  }
}

function runHandler (call: Call, { check, handle }: Method): Result | Promise<Result> {
  const wrong = check(call.params)
  if (wrong !== undefined) throw errors.invalidParams(wrong)
  // The item whose scopes were checked, even if another one has its name by now.
  return handle(call.params, call, call.target?.item)
}

const insufficientScope: ScopeChallenge = scopes => `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`
