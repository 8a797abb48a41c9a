import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { keyOf } from '../definitions.js'
import { warnOfForgotten } from '../load-file.js'
import { checkFile, filesAt, locatePlugin, lookAt } from '../plugin-place.js'
import { checkUnique } from '../names-in-use.js'
import { importFile } from '../register-plugin.js'
import { attempt, LOAD_LIMIT } from './attempt.js'
import { CallsInFlight } from './calls-in-flight.js'
import { FileChanges } from './file-changes.js'
import { linksTo, realPath } from './symbolic-links.js'
import { moduleGraph, type ModuleGraph } from './module-graph.js'
import { planSwaps, type Staged } from './plan-swaps.js'
import { PluginUnit, runHooks } from './plugin-unit.js'
import { NeedsRestart, type Registration } from './registration.js'
import { reportRefusal } from './report-refusal.js'

/** Says that a load is given up, because it is of no use any more. */
class GivenUp extends Error {}

/** Registers the entries of option `plugins` like `loadPlugins`, and loads their files anew when they change. */
export async function reloadPlugins (
  app: FastifyInstance,
  plugins: Array<string | FastifyPluginAsync>,
  grace: number,
  isServed: (file: string) => boolean
): Promise<void> {
  const watcher = new PluginReloader(app, await moduleGraph(), grace, isServed)
  for (const plugin of plugins) {
    if (typeof plugin === 'string') await watcher.add(locatePlugin(plugin, resolve('.')))
    else await app.register(plugin)
  }
  app.addHook('onReady', async () => watcher.start())
  app.addHook('onClose', async () => await watcher.close())
}

/** The files of all plugins, and the one reload at a time that follows their changes. */
class PluginReloader {
  readonly #app: FastifyInstance
  readonly #graph: ModuleGraph
  readonly #calls: CallsInFlight
  readonly #places: string[] = []
  readonly #isServed: (file: string) => boolean
  readonly #units = new Map<string, PluginUnit>()
  readonly #changes = new FileChanges(() => { void this.#run() })
  #running: Promise<void> | undefined
  #again = false
  #closed = false
  /** Files that changed since the last reload began. */
  readonly #changed = new Set<string>()
  #loading: { unit: PluginUnit, controller: AbortController } | undefined
  #offImport: () => void = () => {}

  constructor (app: FastifyInstance, graph: ModuleGraph, grace: number, isServed: (file: string) => boolean) {
    this.#isServed = isServed
    this.#app = app
    this.#graph = graph
    this.#calls = new CallsInFlight(app.mcp, grace)
  }

  /** Loads the files of a place. One that is broken is reported, and loaded when it is mended. */
  async add (place: string): Promise<void> {
    this.#places.push(place)
    const { files, folders } = lookAt(place)
    if (files.length === 0 && folders.length === 0) filesAt(place)
    for (const file of files.filter(this.#isServed)) {
      if (this.#units.has(file)) continue
      checkFile(file)
      await this.#loadFirst(this.#unitOf(file))
    }
  }

  start (): void {
    this.#app.log.info('plugin files are reloaded when they change, without a restart (option reload)')
    this.#followAll()
    this.#offImport = this.#graph.onImport(() => {
      this.#followAll()
      // Only now is it known that the file imports one that was saved meanwhile.
      if (this.#again) this.#giveUpOutdated()
    })
  }

  async close (): Promise<void> {
    this.#closed = true
    this.#offImport()
    this.#changes.close()
    this.#loading?.controller.abort(new GivenUp('the gateway stops'))
    await this.#running
    await runHooks([...this.#units.values()].map(unit => async () => await unit.close()))
  }

  #unitOf (file: string): PluginUnit {
    const unit = this.#units.get(file) ?? new PluginUnit(this.#app, file)
    this.#units.set(file, unit)
    // Remembers the real path before the file is read, so that a change meanwhile is seen.
    unit.source = realPath(file)
    this.#changes.note([unit.source])
    return unit
  }

  async #loadFirst (unit: PluginUnit): Promise<void> {
    try {
      const module = await this.#import(unit.file)
      await unit.register(module)
      warnOfForgotten(this.#app.log, module, unit.file)
    } catch (error) {
      await reportRefusal(this.#app.log, unit, error, this.#graph.files())
    }
  }

  async #import (file: string): Promise<object> {
    return await importFile(
      { log: this.#app.log, file, deadline: performance.now() + LOAD_LIMIT },
      async () => await this.#graph.load(realPath(file))
    )
  }

  #followAll (): void {
    const places = this.#places.map(lookAt)
    const files = places.flatMap(({ files }) => files)
    const folders = places.flatMap(({ folders }) => folders)
    const links = linksTo([...this.#places, ...files, ...folders])
    this.#changes.watch([...this.#graph.files(), ...files, ...links], folders)
  }

  /** One reload at a time; what changes meanwhile is seen by one more. */
  async #run (): Promise<void> {
    this.#again = true
    if (this.#running !== undefined) {
      this.#giveUpOutdated()
      return
    }
    this.#running = this.#reloadWhileNeeded()
    await this.#running
    this.#running = undefined
  }

  /** A load may wait for something that never comes; the next version of the file must not. */
  #giveUpOutdated (): void {
    if (this.#loading === undefined || !this.#isOutdated(this.#loading.unit)) return
    this.#app.log.info(`plugin ${this.#loading.unit.file} was saved again, so the former load is given up`)
    this.#loading.controller.abort(new GivenUp('it was saved again'))
  }

  /** True if the file, or something that it imports, changed since the reload began. */
  #isOutdated ({ file, source = file }: PluginUnit): boolean {
    for (const path of this.#changes.changes()) this.#changed.add(path)
    return source !== realPath(file) || this.#graph.affectedBy(this.#changed).has(source)
  }

  async #reloadWhileNeeded (): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false
      await this.#reload().catch(error =>
        this.#app.log.error({ err: error as Error }, 'watched plugins cannot be looked at')
      )
    }
  }

  async #reload (): Promise<void> {
    const files = new Set(this.#places.flatMap(place => lookAt(place).files).filter(this.#isServed).filter(existsSync))
    const affected = this.#graph.invalidate([...this.#changed, ...this.#changes.changes()])
    this.#changed.clear()
    const gone = [...this.#units.values()].filter(({ file }) => !files.has(file))
    const changed = [...files]
      .filter(file => this.#units.get(file)?.source !== realPath(file) || affected.has(realPath(file)))
      .map(file => this.#unitOf(file))
    // A name that they were refused for may be free now.
    const refused = [...this.#units.values()].filter(({ file, refusal }) => refusal !== undefined && files.has(file))
    const again = changed.length + gone.length === 0 ? [] : refused.filter(unit => !changed.includes(unit))
    for (const unit of changed) unit.refusal = undefined
    const staged: Staged[] = []
    for (const unit of [...changed, ...again]) {
      const next = await this.#stage(unit)
      if (next !== undefined) staged.push({ unit, next })
    }
    if (this.#closed) {
      for (const { unit, next } of staged) void unit.discard(next)
      return
    }
    for (const unit of gone) this.#remove(unit)
    await this.#swapAll(staged)
    this.#followAll()
  }

  async #stage (unit: PluginUnit): Promise<Registration | undefined> {
    // The next reload loads it, with the change.
    if (this.#closed || (this.#again && this.#isOutdated(unit))) return undefined
    const controller = new AbortController()
    this.#loading = { unit, controller }
    try {
      return await attempt(this.#app.log, unit.file, controller, async () => await this.#load(unit, controller.signal))
    } catch (error) {
      if (!(error instanceof GivenUp)) await reportRefusal(this.#app.log, unit, error, this.#graph.files())
      return undefined
    } finally {
      this.#loading = undefined
    }
  }

  async #load (unit: PluginUnit, signal: AbortSignal): Promise<Registration> {
    const module = await this.#graph.load(realPath(unit.file))
    signal.throwIfAborted()
    if (unit.permanent !== undefined) throw new NeedsRestart(unit.permanent)
    const next = await unit.stage(module, signal)
    if (unit.refusal === undefined) warnOfForgotten(this.#app.log, module, unit.file)
    return next
  }

  /** In one turn, so that clients are notified once. Names may move from one of these files to another. */
  async #swapAll (staged: Staged[]): Promise<void> {
    const { accepted, replaceable, refused } = planSwaps(staged, (item, others) => checkUnique(this.#app, item, others))
    for (const { unit, next } of accepted) {
      try {
        this.#retire(unit, unit.swap(next, replaceable))
        unit.refusal = undefined
        const names = next.definitions.map(keyOf)
        this.#app.log.info(`plugin ${unit.file} was loaded${names.length === 0 ? '' : `: ${names.join(', ')}`}`)
      } catch (error) {
        refused.push({ unit, next, error })
      }
    }
    for (const { unit, next, error } of refused) {
      void unit.discard(next)
      await reportRefusal(this.#app.log, unit, error, this.#graph.files())
    }
  }

  #remove (unit: PluginUnit): void {
    if (unit.permanent !== undefined) {
      this.#app.log.warn(
        `plugin ${unit.file} is gone, but its code stays until a restart, because it added ${unit.permanent}`
      )
      return
    }
    this.#units.delete(unit.file)
    this.#retire(unit, unit.remove())
    this.#app.log.info(`plugin ${unit.file} is gone, and what it had registered`)
  }

  /** The `onClose` hooks of a former version run when the calls that it may serve are answered. */
  #retire ({ file }: PluginUnit, { closeHooks }: Registration): void {
    if (closeHooks.length === 0) return
    void this.#calls.waitForEnd().then(async () => await runHooks(closeHooks)).catch(err => {
      this.#app.log.warn({ err: err as Error }, `plugin ${file}: an onClose hook of its former version failed`)
    })
  }
}
