import { register } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import { entry } from '../version.js'
import { letRequireFind } from './require-patchbay.js'

let hasHooks = false
let hasRequire = false

/** Lets Node.js load TypeScript, and find `mcp-patchbay` where it is not installed. With a port, the hooks also follow what is imported. */
export async function registerHooks (port?: MessagePort): Promise<void> {
  if (hasHooks && port === undefined) return
  hasHooks = true
  register('./module-hooks.js', import.meta.url, port === undefined ? { data: { entry } } : { data: { entry, port }, transferList: [port] })
  if (!hasRequire) await letRequireFind(entry)
  hasRequire = true
}
