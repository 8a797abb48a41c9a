import { createRequire, Module } from 'node:module'
import { fileURLToPath } from 'node:url'

interface Resolver { _resolveFilename: (request: string, ...rest: unknown[]) => string }

/** Lets `require('mcp-patchbay')` find the gateway that runs, where no such package is installed. The module hooks do that for `import` only. */
export async function letRequireFind (entry: string): Promise<void> {
  const require = createRequire(import.meta.url)
  const file = fileURLToPath(entry)
  const running = new Module(file)
  Object.assign(running, { filename: file, loaded: true, exports: { ...await import(entry) as object } })
  require.cache[file] ??= running as NodeJS.Module
  const resolver = Module as unknown as Resolver
  const { _resolveFilename: resolve } = resolver
  resolver._resolveFilename = (request, ...rest) => {
    try {
      return resolve.call(Module, request, ...rest)
    } catch (error) {
      if (request === 'mcp-patchbay') return file
      throw error
    }
  }
}
