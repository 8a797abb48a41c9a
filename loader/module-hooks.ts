import { readFile } from 'node:fs/promises'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { isExported, isReloadable, withGeneration, withoutGeneration } from './reload/generation.js'

/** `port` is there when files are watched: it brings their generations, and takes which file imports which. */
export interface HooksData { entry: string, port?: MessagePort }

/** The URL of the module that `mcp-patchbay` stands for. */
let entry: string
let port: MessagePort | undefined

/** How often each watched file has changed, by its URL. */
const generations = new Map<string, number>()

export const initialize: InitializeHook<HooksData> = data => {
  entry = data.entry
  port = data.port
}

/**
 * Resolves the imports of an author's file. A watched file that changed gets another URL, since Node.js loads each URL
 * once.
 */
export const resolve: ResolveHook = async (specifier, context, next) => {
  if (port === undefined) return await find(specifier, context, next)
  const importer = context.parentURL === undefined ? undefined : withoutGeneration(context.parentURL)
  if (importer !== undefined && isExported(specifier, importer, entry)) return { url: entry, shortCircuit: true }
  try {
    const found = await find(specifier, context, next)
    const url = withoutGeneration(found.url)
    if (!isReloadable(url, entry)) return found
    port.postMessage({ importer, url })
    return { ...found, url: withGeneration(url, latestGeneration(port, url)) }
  } catch (error) {
    // A file that is not there yet may come.
    if (specifier.startsWith('.') && importer !== undefined) {
      for (const url of candidates(specifier, importer)) port.postMessage({ importer, url })
    }
    throw error
  }
}

/** The messages that were sent before this import are in the queue already, so none is missed. */
function latestGeneration (port: MessagePort, url: string): number {
  for (let received = receiveMessageOnPort(port); received !== undefined; received = receiveMessageOnPort(port)) {
    const { urls, generation } = received.message as { urls: string[], generation: number }
    for (const each of urls) generations.set(each, generation)
  }
  return generations.get(url) ?? 0
}

function candidates (specifier: string, importer: string): string[] {
  const retry = asTypeScript(specifier, importer)
  return [specifier, ...(retry === undefined ? [] : [retry.specifier])].map(each => new URL(each, importer).href)
}

/**
 * Imports resolve as usual first; `mcp-patchbay` and its dependencies resolve even where nothing is installed.
 */
const find: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    // The gateway that runs, not another copy of the package.
    if (specifier === 'mcp-patchbay') return { url: entry, shortCircuit: true }
    const retry = isBare(specifier)
      ? { specifier, parentURL: import.meta.url }
      : asTypeScript(specifier, context.parentURL)
    if (retry === undefined) throw error
    try {
      return await next(retry.specifier, { ...context, parentURL: retry.parentURL })
    } catch {
      throw error
    }
  }
}

/** Compiles TypeScript by removing its types, which are not checked. */
export const load: LoadHook = async (url, context, next) => {
  const plain = withoutGeneration(url)
  if (/\.m?ts$/.test(plain)) return { format: 'module', source: await compile(plain), shortCircuit: true }
  const loaded = await next(url, context)
  // V8 takes the name of a module in stack traces from this comment.
  return plain === url || loaded.format !== 'module'
    ? loaded
    : { ...loaded, source: `${String(loaded.source)}\n//# sourceURL=${plain}` }
}

async function compile (url: string): Promise<string> {
  const source = await readFile(fileURLToPath(url), 'utf8')
  const { code, map = '' } = await transform(source, url)
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`
}

// swc throws an object that is not an Error.
async function transform (source: string, url: string): Promise<{ code: string, map?: string }> {
  const { default: swc } = await import('@swc/wasm-typescript')
  try {
    return swc.transformSync(source, { mode: 'transform', filename: url, sourceMap: true })
  } catch (error) {
    const { message, startLine, startColumn } = error as { message?: string, startLine?: number, startColumn?: number }
    throw new SyntaxError(
      `${message ?? String(error)} (${fileURLToPath(url)}, line ${startLine ?? '?'}, column ${startColumn ?? '?'})`
    )
  }
}

const isBare = (specifier: string): boolean => !/^(\.{0,2}\/|[a-z]+:)/.test(specifier)

// Authors write './other.js' or './other' in TypeScript and mean './other.ts'.
function asTypeScript (
  specifier: string,
  parentURL: string | undefined
): { specifier: string, parentURL: string | undefined } | undefined {
  if (/\.m?ts$/.test(specifier)) return undefined
  const file = /\.m?js$/.test(specifier) ? specifier.replace(/js$/, 'ts') : `${specifier}.ts`
  return { specifier: file, parentURL }
}
