import type { FastifyInstance } from 'fastify'
import type { Middleware } from '../../protocol/dispatch/pipeline.js'
import { keyOf, type Definition } from '../definitions.js'

type Mcp = FastifyInstance['mcp']
type Undo = () => void

/** Changes something in the gateway, and returns how to undo it. */
export type Effect = () => Undo

/** Says that a plugin did something that Fastify allows only before the start. */
export class NeedsRestart extends Error {}

interface Entry { effect: Effect, undo: Undo | undefined }

/**
 * The registrations of one version of a file. While it is staged, it is only collected; once it is live, it is in the
 * gateway; after it was replaced, what its old code still registers is ignored.
 */
export class Registration {
  readonly definitions: Definition[] = []
  readonly readyHooks: Array<() => unknown> = []
  readonly closeHooks: Array<() => unknown> = []
  /** The part of it that cannot be changed while the gateway runs. */
  permanent: string | undefined
  readonly #mcp: Mcp
  readonly #slots: MiddlewareSlots
  readonly #middleware: Middleware[] = []
  readonly #entries: Entry[] = []
  #state: 'staged' | 'live' | 'replaced'

  constructor (mcp: Mcp, slots: MiddlewareSlots, state: 'staged' | 'live') {
    this.#mcp = mcp
    this.#slots = slots
    this.#state = state
  }

  get isStaged (): boolean {
    return this.#state === 'staged'
  }

  /** Notes something permanent. Throws when the gateway runs already. */
  notePermanent (what: string): void {
    if (this.#state !== 'live') throw new NeedsRestart(what)
    this.permanent ??= what
  }

  add (item: Definition): void {
    if (this.#state === 'replaced') return
    const twin = this.find(item.kind, keyOf(item))
    if (this.isStaged && twin !== undefined) {
      throw new Error(
        `there is a ${item.kind} "${keyOf(item)}" already; choose another ${item.kind === 'resource' ? 'uri' : 'name'}`
      )
    }
    if (this.#state === 'live') addTo(this.#mcp, item)
    this.definitions.push(item)
  }

  /** Removes a definition of this file, or one of another until this version is replaced. */
  remove (kind: Definition['kind'], key: string): boolean {
    const own = this.find(kind, key)
    if (own !== undefined) {
      this.definitions.splice(this.definitions.indexOf(own), 1)
      return this.#state === 'live' ? removeFrom(this.#mcp, own) : true
    }
    const foreign = present(this.#mcp, kind, key)
    if (foreign === undefined) return false
    this.apply(() => {
      const removed = removeFrom(this.#mcp, foreign)
      return () => { if (removed && present(this.#mcp, kind, key) === undefined) addTo(this.#mcp, foreign) }
    })
    return true
  }

  find (kind: Definition['kind'], key: string): Definition | undefined {
    return this.definitions.find(item => item.kind === kind && keyOf(item) === key)
  }

  addMiddleware (middleware: Middleware): void {
    this.#middleware.push(middleware)
    if (this.#state === 'live') this.#slots.fill(this.#middleware)
  }

  /** Runs the effect, now or when this version gets live. Returns how to undo it. */
  apply (effect: Effect): Undo {
    if (this.#state === 'replaced') return () => {}
    const entry: Entry = { effect, undo: this.#state === 'live' ? effect() : undefined }
    this.#entries.push(entry)
    return () => {
      const at = this.#entries.indexOf(entry)
      if (at !== -1) this.#entries.splice(at, 1)
      entry.undo?.()
    }
  }

  /** Gives up a version that is staged: what it registers from now on is ignored. */
  discard (): void {
    this.#state = 'replaced'
  }

  /** Runs the effects. If one throws, those before it are undone. */
  attach (): void {
    this.#state = 'live'
    try {
      for (const entry of this.#entries) entry.undo = entry.effect()
      this.#slots.fill(this.#middleware)
    } catch (error) {
      this.detach()
      throw error
    }
  }

  /** Undoes the effects. */
  detach (): void {
    this.#state = 'replaced'
    this.#slots.fill([])
    for (const entry of [...this.#entries].reverse()) {
      entry.undo?.()
      entry.undo = undefined
    }
  }
}

/** Adds a definition, or puts it in the place of the one of its name. */
export function putInto ({ tools, resources, prompts }: Mcp, item: Definition): void {
  if (item.kind === 'tool') tools.replace(item)
  else if (item.kind === 'resource') resources.replace(item)
  else prompts.replace(item)
}

/** Removes the definition, unless another one has its name by now. */
export function removeFrom (mcp: Mcp, item: Definition): boolean {
  const { tools, resources, prompts } = mcp
  if (present(mcp, item.kind, keyOf(item)) !== item) return false
  if (item.kind === 'resource') return resources.remove(item.uri)
  return (item.kind === 'tool' ? tools : prompts).remove(item.name)
}

function addTo ({ tools, resources, prompts }: Mcp, item: Definition): void {
  if (item.kind === 'tool') tools.add(item)
  else if (item.kind === 'resource') resources.add(item)
  else prompts.add(item)
}

function present ({ tools, resources, prompts }: Mcp, kind: Definition['kind'], key: string): Definition | undefined {
  if (kind === 'resource') return resources.get(key)
  return kind === 'tool' ? tools.get(key) : prompts.get(key)
}

/**
 * The places of a file's middleware in the order of all middleware, which stay the same when the file is loaded anew.
 */
export class MiddlewareSlots {
  readonly #use: (middleware: Middleware) => void
  #current: Middleware[] = []
  #size = 0

  constructor (use: (middleware: Middleware) => void) {
    this.#use = use
  }

  /** Puts these into the slots. A slot that is left over lets calls pass. */
  fill (middleware: readonly Middleware[]): void {
    this.#current = [...middleware]
    for (; this.#size < middleware.length; this.#size++) {
      const index = this.#size
      this.#use(async (call, next) => await (this.#current[index]?.(call, next) ?? next()))
    }
  }
}
