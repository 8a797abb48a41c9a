import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { register } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { isObject } from './protocol/json.js'
import type { Prompt } from './protocol/prompt.js'
import type { Resource } from './protocol/resource.js'
import type { Tool } from './protocol/tool.js'

/** What a file may export by default: a definition, several, or a Fastify plugin that registers what it likes. */
export type Contribution = Tool | Resource | Prompt | FastifyPluginAsync | Contribution[]

const UNKNOWN = 'the default export must be a tool, a resource, a prompt, a list of them, or a Fastify plugin'

let hooked = false

/** Which file brought what, so that two of one name can both be named. */
const sources = new WeakMap<object, Map<string, string>>()

/** Loads an author's file, TypeScript or JavaScript, and registers what it exports. The message of a failure names the file. */
export async function loadFile (app: FastifyInstance, file: string): Promise<void> {
  const path = resolve(file)
  if (!existsSync(path)) throw new Error(`plugin ${path}: there is no such file`)
  if (!/\.[mc]?js$|\.m?ts$/.test(path)) throw new Error(`plugin ${path}: it must be a .ts, .mts, .js, .mjs or .cjs file`)
  if (!hooked) register('./loader-hooks.js', import.meta.url)
  hooked = true
  await contribute(app, pathToFileURL(path))
}

/** Loads every module of one of our own folders: a file that is added there is served, with nothing else to edit. */
export async function loadFolder (app: FastifyInstance, folder: URL): Promise<void> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.js')).sort()
  for (const name of files) await contribute(app, new URL(name, folder))
}

async function contribute (app: FastifyInstance, url: URL): Promise<void> {
  try {
    const { default: exported } = await import(url.href) as { default?: Contribution }
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
  if (item.kind === 'tool') app.tools.add(item)
  else if (item.kind === 'resource') app.resources.add(item)
  else if (item.kind === 'prompt') app.prompts.add(item)
  else throw new Error(UNKNOWN)
}

function note (app: FastifyInstance, item: Tool | Resource | Prompt, file: string): void {
  const known = sources.get(app.mcp) ?? new Map<string, string>()
  const name = `${item.kind} "${item.kind === 'resource' ? item.uri : item.name}"`
  const other = known.get(name)
  if (other !== undefined) throw new Error(`there is a ${name} in ${other} already; choose another name`)
  sources.set(app.mcp, known.set(name, file))
}
