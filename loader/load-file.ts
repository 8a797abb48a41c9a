import { existsSync, readFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { isObject } from '../protocol/wire/json.js'
import type { Prompt } from '../protocol/definitions/prompt.js'
import type { Resource } from '../protocol/definitions/resource.js'
import type { Tool } from '../protocol/definitions/tool.js'
import { entry } from '../version.js'

/** What a file may export by default: a definition, a list of them, or a Fastify plugin. */
export type Contribution = Tool | Resource | Prompt | FastifyPluginAsync | Contribution[]

const UNKNOWN = 'the default export must be a tool, a resource, a prompt, a list of them, or a Fastify plugin'

/** Imports of a module that is named in the source, and of one whose name is computed. */
const NAMED = /\b(?:from|import|require)\s*\(?\s*['"`]([^'"`]+)['"`]/g
const COMPUTED = /\b(?:import|require)\s*\(\s*[^'"`\s]/

let hasHooks = false

/** The file of each definition by its name, for the error about two of one name. */
const sources = new WeakMap<object, Map<string, string>>()

/** Loads an author's file, TypeScript or JavaScript, and registers what it exports. The message of an error names the file. */
export async function loadFile (app: FastifyInstance, file: string): Promise<void> {
  const path = resolve(file)
  if (!existsSync(path)) throw new Error(`plugin ${path}: there is no such file`)
  if (!/\.[mc]?js$|\.m?ts$/.test(path)) throw new Error(`plugin ${path}: it must be a .ts, .mts, .js, .mjs or .cjs file`)
  const url = pathToFileURL(path)
  await contribute(app, url, async () => {
    if (needsHooks(path)) registerHooks()
    return await import(url.href)
  })
}

/**
 * False for JavaScript whose imports resolve without hooks, because loading the hooks takes longer than the rest of a start. Read from the source:
 * a plain import cannot be tried first, since Node.js caches failed imports, and a file may import something only when a tool is called.
 */
function needsHooks (path: string): boolean {
  if (/ts$/.test(path)) return true
  const source = readFileSync(path, 'utf8')
  const names = [...source.matchAll(NAMED)].map(([, name = '']) => name)
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

function registerHooks (): void {
  if (!hasHooks) register('./module-hooks.js', import.meta.url, { data: { entry } })
  hasHooks = true
}

/** Registers what a module exports. The message of an error names its file. */
export async function contribute (app: FastifyInstance, url: URL, load: () => unknown): Promise<void> {
  try {
    const { default: exported } = await load() as { default?: Contribution }
    await add(app, exported, fileURLToPath(url))
  } catch (error) {
    const file = fileURLToPath(url)
    throw new Error(`plugin ${file}: ${error instanceof Error ? error.message : String(error)}${lineIn(file, error)}`, { cause: error })
  }
}

/** The line of the author's file in the stack of an error, if it is there. */
function lineIn (file: string, error: unknown): string {
  const { stack = '' } = error instanceof Error ? error : {}
  const frame = stack.split('\n').find(entry => entry.includes(file) && /:\d+/.test(entry))
  const [, line] = /:(\d+)(?::\d+)?\)?$/.exec(frame ?? '') ?? []
  return line === undefined ? '' : ` (line ${line})`
}

async function add (app: FastifyInstance, item: Contribution | undefined, file: string): Promise<void> {
  if (typeof item === 'function') {
    await app.register(item)
    return
  }
  if (Array.isArray(item)) {
    for (const one of item) await add(app, one, file)
    return
  }
  if (item === undefined) throw new Error('there is no default export; write "export default tool({ ... })"')
  if (!isObject(item)) throw new Error(UNKNOWN)
  checkUnique(app, item, file)
  if (item.kind === 'tool') app.mcp.tools.add(item)
  else if (item.kind === 'resource') app.mcp.resources.add(item)
  else if (item.kind === 'prompt') app.mcp.prompts.add(item)
  else throw new Error(UNKNOWN)
}

function checkUnique (app: FastifyInstance, item: Tool | Resource | Prompt, file: string): void {
  const known = sources.get(app.mcp) ?? new Map<string, string>()
  const name = `${item.kind} "${item.kind === 'resource' ? item.uri : item.name}"`
  const other = known.get(name)
  if (other !== undefined) throw new Error(`there is a ${name} in ${other} already; choose another name`)
  sources.set(app.mcp, known.set(name, file))
}
