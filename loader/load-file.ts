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

/** What a file may export by default: a definition, several, or a Fastify plugin that registers what it likes. */
export type Contribution = Tool | Resource | Prompt | FastifyPluginAsync | Contribution[]

const UNKNOWN = 'the default export must be a tool, a resource, a prompt, a list of them, or a Fastify plugin'

/** What is imported by a name that stands there, and by one that does not. */
const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"`]([^'"`]+)['"`]/g
const COMPUTED = /\b(?:import|require)\s*\(\s*[^'"`\s]/

let hooked = false

/** Which file brought what, so that two of one name can both be named. */
const sources = new WeakMap<object, Map<string, string>>()

/** Loads an author's file, TypeScript or JavaScript, and registers what it exports. The message of a failure names the file. */
export async function loadFile (app: FastifyInstance, file: string): Promise<void> {
  const path = resolve(file)
  if (!existsSync(path)) throw new Error(`plugin ${path}: there is no such file`)
  if (!/\.[mc]?js$|\.m?ts$/.test(path)) throw new Error(`plugin ${path}: it must be a .ts, .mts, .js, .mjs or .cjs file`)
  const url = pathToFileURL(path)
  await contribute(app, url, async () => {
    if (needsHelp(path)) help()
    return await import(url.href)
  })
}

/** False for JavaScript that finds for itself what it imports: the help takes longer than all the rest of a start. */
function needsHelp (path: string): boolean {
  if (/ts$/.test(path)) return true
  const source = readFileSync(path, 'utf8')
  const named = [...source.matchAll(IMPORT)].map(([, name = '']) => name)
  const { resolve } = createRequire(path)
  // Files beside it may be TypeScript, or import what is not there.
  return COMPUTED.test(source) || named.some(name => name.startsWith('.') || !canFind(resolve, name))
}

function canFind (resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND'
  }
}

function help (): void {
  if (!hooked) register('./module-hooks.js', import.meta.url, { data: { entry } })
  hooked = true
}

/** Registers what a module exports. The message of a failure names its file. */
export async function contribute (app: FastifyInstance, url: URL, load: () => unknown): Promise<void> {
  try {
    const { default: exported } = await load() as { default?: Contribution }
    await add(app, exported, fileURLToPath(url))
  } catch (error) {
    const file = fileURLToPath(url)
    throw new Error(`plugin ${file}: ${error instanceof Error ? error.message : String(error)}${placeIn(file, error)}`, { cause: error })
  }
}

/** Where in the author's file it happened, if the stack says so. */
function placeIn (file: string, error: unknown): string {
  const { stack = '' } = error instanceof Error ? error : {}
  const line = stack.split('\n').find(frame => frame.includes(file) && /:\d+/.test(frame))
  const [, place] = /:(\d+)(?::\d+)?\)?$/.exec(line ?? '') ?? []
  return place === undefined ? '' : ` (line ${place})`
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
  note(app, item, file)
  if (item.kind === 'tool') app.mcp.tools.add(item)
  else if (item.kind === 'resource') app.mcp.resources.add(item)
  else if (item.kind === 'prompt') app.mcp.prompts.add(item)
  else throw new Error(UNKNOWN)
}

function note (app: FastifyInstance, item: Tool | Resource | Prompt, file: string): void {
  const known = sources.get(app.mcp) ?? new Map<string, string>()
  const name = `${item.kind} "${item.kind === 'resource' ? item.uri : item.name}"`
  const other = known.get(name)
  if (other !== undefined) throw new Error(`there is a ${name} in ${other} already; choose another name`)
  sources.set(app.mcp, known.set(name, file))
}
