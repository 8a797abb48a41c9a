import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { contributionsOf, keyOf, type Definition } from '../definitions.js'
import { checkUnique, noteSource } from '../names-in-use.js'
import { noteIfSlow } from '../register-plugin.js'
import { MiddlewareSlots, Registration, putInto, removeFrom } from './registration.js'
import { recordingApp } from './recording-app.js'

type AnyPlugin = (app: FastifyInstance, options: object, done?: (error?: Error) => void) => unknown

/** A watched file, and what its present version has registered. */
export class PluginUnit {
  readonly file: string
  readonly #app: FastifyInstance
  readonly #slots: MiddlewareSlots
  #present: Registration
  #isServed = false
  /** Where its last version is: elsewhere than the file, if that is a symbolic link. */
  source: string | undefined
  /** Why its last version is not served, if another try may help. */
  refusal: string | undefined

  constructor (app: FastifyInstance, file: string) {
    this.file = file
    this.#app = app
    this.#slots = new MiddlewareSlots(middleware => app.mcp.use(middleware))
    this.#present = new Registration(app.mcp, this.#slots, 'live')
  }

  /** The part of the present version that cannot be replaced while the gateway runs. */
  get permanent (): string | undefined {
    return this.#present.permanent
  }

  /** False until a version of it was good. */
  get isServed (): boolean {
    return this.#isServed
  }

  /** The definitions of the present version. */
  get definitions (): readonly Definition[] {
    return this.#present.definitions
  }

  /** Registers the first version before the gateway starts. If it fails, nothing of it stays that can be removed. */
  async register (module: object): Promise<void> {
    try {
      for (const item of contributionsOf(module)) {
        if (typeof item === 'function') await this.#registerPlugin(item)
        else this.#addDefinition(item)
      }
      this.#isServed = true
    } catch (error) {
      this.#retire(this.#present)
      const { permanent } = this.#present
      this.#present = new Registration(this.#app.mcp, this.#slots, 'live')
      this.#present.permanent = permanent
      throw error
    }
  }

  /**
   * Collects what another version registers, without a change of the gateway. What it still registers after the signal
   * aborts is ignored.
   */
  async stage (module: object, signal: AbortSignal): Promise<Registration> {
    const next = new Registration(this.#app.mcp, this.#slots, 'staged')
    signal.addEventListener('abort', () => { void this.discard(next) }, { once: true })
    try {
      for (const item of contributionsOf(module)) {
        if (typeof item === 'function') await run(item as AnyPlugin, recordingApp(this.#app, next))
        else next.add(item)
        signal.throwIfAborted()
      }
      for (const hook of next.readyHooks) {
        await hook()
        signal.throwIfAborted()
      }
      return next
    } catch (error) {
      void this.discard(next)
      throw error
    }
  }

  /** Lets go of a version that does not get live: its `onClose` hooks run, because it may have opened something. */
  async discard (next: Registration): Promise<void> {
    next.discard()
    await runHooks(next.closeHooks.splice(0)).catch(error =>
      this.#app.log.warn(
        { err: error as Error },
        `plugin ${this.file}: an onClose hook of a version that is not served failed`
      )
    )
  }

  /** Removes the present version, and returns it. */
  remove (): Registration {
    return this.swap(new Registration(this.#app.mcp, this.#slots, 'staged'), [])
  }

  /**
   * Puts the other version in the place of the present one, in one step, and returns the present. Throws, and changes
   * nothing, if a name is taken by others than `replaceable`.
   */
  swap (next: Registration, replaceable: readonly Definition[]): Registration {
    const { mcp } = this.#app
    const former = this.#present
    for (const item of next.definitions) checkUnique(this.#app, item, replaceable)
    former.detach()
    try {
      next.attach()
    } catch (error) {
      former.attach()
      throw error
    }
    for (const item of former.definitions) if (next.find(item.kind, keyOf(item)) === undefined) removeFrom(mcp, item)
    for (const item of next.definitions) {
      putInto(mcp, item)
      noteSource(this.#app, item, this.file)
    }
    this.#present = next
    this.#isServed = true
    return former
  }

  /** Runs the `onClose` hooks of the present version. */
  async close (): Promise<void> {
    await runHooks(this.#present.closeHooks)
  }

  #addDefinition (item: Definition): void {
    checkUnique(this.#app, item)
    this.#present.add(item)
    noteSource(this.#app, item, this.file)
  }

  // The wrapper does not fail, since Fastify would not start after that.
  async #registerPlugin (plugin: FastifyPluginAsync): Promise<void> {
    let failure: { error: unknown } | undefined
    const wrapper = async (app: FastifyInstance): Promise<void> => {
      try {
        await run(plugin as AnyPlugin, recordingApp(app, this.#present))
      } catch (error) {
        failure = { error }
      }
    }
    // Among them those of fastify-plugin: whether it has a scope of its own, its name and its dependencies.
    for (const symbol of Object.getOwnPropertySymbols(plugin)) {
      Object.defineProperty(wrapper, symbol, { value: Reflect.get(plugin, symbol) })
    }
    const timer = noteIfSlow(this.#app.log, this.file)
    try {
      await this.#app.register(wrapper)
    } finally {
      clearTimeout(timer)
    }
    if (failure !== undefined) throw failure.error
  }

  #retire (registration: Registration): void {
    for (const item of registration.definitions) removeFrom(this.#app.mcp, item)
    registration.detach()
  }
}

/** Runs the hooks of a version that is not used any more, the last first. Rejects with the first error. */
export async function runHooks (hooks: ReadonlyArray<() => unknown>): Promise<void> {
  for (const hook of [...hooks].reverse()) await hook()
}

async function run (plugin: AnyPlugin, app: FastifyInstance): Promise<void> {
  if (plugin.length < 3) await plugin(app, {})
  else {
    await new Promise<void>((resolve, reject) => {
      plugin(app, {}, error => (error == null ? resolve() : reject(error)))
    })
  }
}
