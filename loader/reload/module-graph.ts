import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { entry } from '../../version.js'
import { registerHooks } from '../register-hooks.js'
import { isReloadable, withGeneration } from './generation.js'

let shared: Promise<ModuleGraph> | undefined

/** The graph of the process. Registers the module hooks, the first time. */
export async function moduleGraph (): Promise<ModuleGraph> {
  shared ??= startGraph()
  return await shared
}

async function startGraph (): Promise<ModuleGraph> {
  const { port1, port2 } = new MessageChannel()
  await registerHooks(port2)
  return new ModuleGraph(port1)
}

/**
 * Which of the authors' files imports which, and how often each has changed. One for the process, like Node.js' own
 * cache of modules.
 */
export class ModuleGraph {
  readonly #port: MessagePort
  readonly #importers = new Map<string, Set<string>>()
  readonly #generations = new Map<string, number>()
  readonly #require = createRequire(import.meta.url)
  /** The files that Node.js had in its cache of CommonJS, and those of them that failed, with what imported them. */
  readonly #commonJs = new Set<string>()
  readonly #broken = new Map<string, { error: unknown, importers: Set<string> }>()
  readonly #listeners = new Set<() => void>()
  #generation = 0

  /** `port` leads to the module hooks. */
  constructor (port: MessagePort) {
    this.#port = port
    port.on('message', message => {
      this.#note(message)
      for (const listener of this.#listeners) listener()
    })
    port.unref()
  }

  /** Runs when files are imported that no file imported before. Returns how to remove it. */
  onImport (listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  /** Loads the present generation of a file. */
  async load (file: string): Promise<object> {
    for (const { error, importers } of this.#broken.values()) if (importers.has(file)) throw error
    try {
      return await import(withGeneration(pathToFileURL(file).href, this.#generations.get(file) ?? 0)) as object
    } finally {
      this.#receive()
      this.#link(file, undefined)
      const seen = new Set<string>()
      for (const known of [...this.#importers.keys()]) this.#noteRequired(known, seen)
    }
  }

  /** Every file that was imported, or looked for in vain. */
  files (): string[] {
    this.#receive()
    return [...this.#importers.keys()]
  }

  /** The files and all that import them. */
  affectedBy (files: Iterable<string>): Set<string> {
    this.#receive()
    const affected = new Set<string>()
    for (const file of files) this.#collect(file, affected)
    return affected
  }

  /** Lets these files, and all that import them, be loaded anew by the next import. Returns all of them. */
  invalidate (files: Iterable<string>): Set<string> {
    const affected = this.affectedBy(files)
    if (affected.size === 0) return affected
    this.#generation++
    for (const file of affected) this.#forget(file)
    this.#port.postMessage({ generation: this.#generation, urls: [...affected].map(file => pathToFileURL(file).href) })
    for (const file of affected) if (this.#commonJs.has(file)) this.#requireAgain(file, affected)
    return affected
  }

  #forget (file: string): void {
    this.#generations.set(file, this.#generation)
    this.#broken.delete(file)
    for (const { importers } of this.#broken.values()) importers.delete(file)
    if (this.#require.cache[file] !== undefined) this.#commonJs.add(file)
    Reflect.deleteProperty(this.#require.cache, file)
  }

  /**
   * An import alone would give an empty object for what a changed CommonJS file re-exports: Node.js takes it for a
   * circle.
   */
  #requireAgain (file: string, importers: Set<string>): void {
    try {
      this.#require(file)
    } catch (error) {
      this.#broken.set(file, { error, importers: new Set(importers) })
    }
  }

  #collect (file: string, affected: Set<string>): void {
    if (affected.has(file)) return
    affected.add(file)
    for (const importer of this.#importers.get(file) ?? []) this.#collect(importer, affected)
  }

  /** The hooks send a message before they answer, so after an import all are in the queue. */
  #receive (): void {
    for (
      let received = receiveMessageOnPort(this.#port);
      received !== undefined;
      received = receiveMessageOnPort(this.#port)
    ) { this.#note(received.message) }
  }

  #note (message: unknown): void {
    const { importer, url } = message as { importer?: string, url: string }
    this.#link(
      fileURLToPath(url),
      importer?.startsWith('file:') === true && isReloadable(importer, entry) ? fileURLToPath(importer) : undefined
    )
  }

  #link (file: string, importer: string | undefined): void {
    const importers = this.#importers.get(file) ?? new Set()
    this.#importers.set(file, importers)
    if (importer !== undefined) importers.add(importer)
  }

  /** The hooks do not see `require`; Node.js' cache of CommonJS modules knows who required whom. */
  #noteRequired (file: string, seen: Set<string>): void {
    if (seen.has(file)) return
    seen.add(file)
    for (const { filename } of this.#require.cache[file]?.children ?? []) {
      if (!isReloadable(pathToFileURL(filename).href, entry)) continue
      this.#link(filename, file)
      this.#noteRequired(filename, seen)
    }
  }
}
