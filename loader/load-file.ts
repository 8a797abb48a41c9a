import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { contributionsOf, forgottenExports, type Definition } from './definitions.js'
import { explain, NAMED_IMPORT } from './explain.js'
import { checkFile } from './plugin-place.js'
import { checkUnique, noteSource } from './names-in-use.js'
import { registerHooks } from './register-hooks.js'
import { importFile, loadDeadline, registerPlugin } from './register-plugin.js'

/** An import of a module whose name is computed. */
const COMPUTED = /\b(?:import|require)\s*\(\s*[^'"`\s]/

/**
 * Loads an author's file, TypeScript or JavaScript, and registers what it exports. The message of an error names the
 * file.
 */
export async function loadFile (app: FastifyInstance, path: string, deadline: number): Promise<void> {
  checkFile(path)
  const url = pathToFileURL(path)
  await contribute(app, url, async () => {
    if (needsHooks(path)) await registerHooks()
    return await importFile({ log: app.log, file: path, deadline }, async () => await import(url.href) as object)
  }, deadline)
}

/**
 * False for JavaScript whose imports resolve without hooks, because loading the hooks takes longer than the rest of a
 * start. Read from the source: a plain import cannot be tried first, since Node.js caches failed imports, and a file
 * may import something only when a tool is called.
 */
function needsHooks (path: string): boolean {
  if (/ts$/.test(path)) return true
  const source = readFileSync(path, 'utf8')
  const names = [...source.matchAll(NAMED_IMPORT)].map(([, name = '']) => name)
  const { resolve } = createRequire(path)
  // A file beside it may be TypeScript, or import something that is not installed.
  return COMPUTED.test(source) || names.some(name => name.startsWith('.') || !canResolve(resolve, name))
}

function canResolve (resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND'
  }
}

/** Registers what a module exports. The message of an error names its file. */
export async function contribute (
  app: FastifyInstance,
  url: URL,
  load: () => object | Promise<object>,
  deadline = loadDeadline(app)
): Promise<void> {
  const file = fileURLToPath(url)
  try {
    const module = await load()
    for (const item of contributionsOf(module)) {
      if (typeof item === 'function') await registerPlugin(app, item, { log: app.log, file, deadline })
      else add(app, item, file)
    }
    warnOfForgotten(app.log, module, file)
  } catch (error) {
    throw new Error(`plugin ${file}: ${await explain(error, file)}`, { cause: error })
  }
}

/** Names the exports that an author may believe to be served. */
export function warnOfForgotten (log: FastifyInstance['log'], module: object, file: string): void {
  for (const name of forgottenExports(module)) {
    log.warn(`plugin ${file}: the export "${name}" is not served, because it is not part of the default export`)
  }
}

function add (app: FastifyInstance, item: Definition, file: string): void {
  checkUnique(app, item)
  if (item.kind === 'tool') app.mcp.tools.add(item)
  else if (item.kind === 'resource') app.mcp.resources.add(item)
  else app.mcp.prompts.add(item)
  noteSource(app, item, file)
}
