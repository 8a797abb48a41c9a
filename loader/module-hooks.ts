import { readFile } from 'node:fs/promises'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The URL of the module that `mcp-patchbay` stands for. */
let entry: string

export const initialize: InitializeHook<{ entry: string }> = data => { entry = data.entry }

/**
 * Module hooks for the files of plugin authors. Their imports resolve as usual first; `mcp-patchbay` and its dependencies resolve even where
 * nothing is installed.
 */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    // The gateway that runs, not another copy of the package.
    if (specifier === 'mcp-patchbay') return { url: entry, shortCircuit: true }
    const retry = isBare(specifier) ? { specifier, parentURL: import.meta.url } : asTypeScript(specifier, context.parentURL)
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
  if (!/\.m?ts$/.test(url)) return await next(url, context)
  const source = await readFile(fileURLToPath(url), 'utf8')
  const { code, map = '' } = await transform(source, url)
  const inline = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`
  return { format: 'module', source: `${code}\n${inline}\n`, shortCircuit: true }
}

// swc throws an object that is not an Error.
async function transform (source: string, url: string): Promise<{ code: string, map?: string }> {
  const { default: swc } = await import('@swc/wasm-typescript')
  try {
    return swc.transformSync(source, { mode: 'transform', filename: url, sourceMap: true })
  } catch (error) {
    const { message, startLine, startColumn } = error as { message?: string, startLine?: number, startColumn?: number }
    throw new SyntaxError(`${message ?? String(error)} (line ${startLine ?? '?'}, column ${startColumn ?? '?'})`)
  }
}

const isBare = (specifier: string): boolean => !/^(\.{0,2}\/|[a-z]+:)/.test(specifier)

// Authors write './other.js' or './other' in TypeScript and mean './other.ts'.
function asTypeScript (specifier: string, parentURL: string | undefined): { specifier: string, parentURL: string | undefined } | undefined {
  if (/\.m?ts$/.test(specifier)) return undefined
  const file = /\.m?js$/.test(specifier) ? specifier.replace(/js$/, 'ts') : `${specifier}.ts`
  return { specifier: file, parentURL }
}
