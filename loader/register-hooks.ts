import { Module, createRequire, register } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { MessagePort } from 'node:worker_threads'
import { entry } from '../version.js'

let hasHooks = false
let hasRequire = false

/**
 * Lets Node.js load TypeScript, and find `mcp-patchbay` where it is not installed. With a port, the hooks also follow
 * what is imported.
 */
export async function registerHooks (port?: MessagePort): Promise<void> {
  if (hasHooks && port === undefined) return
  hasHooks = true
  register(
    './module-hooks.js',
    import.meta.url,
    port === undefined ? { data: { entry } } : { data: { entry, port }, transferList: [port] }
  )
  if (!hasRequire) await letRequireFind(entry)
  hasRequire = true
}

interface Resolver { _resolveFilename: (request: string, ...rest: unknown[]) => string }

/**
 * Lets `require('mcp-patchbay')` find the gateway that runs, where no such package is installed. The module hooks do
 * that for `import` only.
 */
async function letRequireFind (entry: string): Promise<void> {
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
