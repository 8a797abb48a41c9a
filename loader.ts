import { readdir } from 'node:fs/promises'
import { register } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Prompt } from './protocol/prompt.js'
import type { Resource } from './protocol/resource.js'
import type { Tool } from './protocol/tool.js'

/** What a file may export by default: a definition, several, or a Fastify plugin that registers what it likes. */
export type Contribution = Tool | Resource | Prompt | FastifyPluginAsync | Contribution[]

let hooked = false

/** Loads an author's file, TypeScript or JavaScript, and registers what it exports. The message of a failure names the file. */
export async function loadFile (app: FastifyInstance, file: string): Promise<void> {
  if (!hooked) register('./loader-hooks.js', import.meta.url)
  hooked = true
  await contribute(app, pathToFileURL(resolve(file)))
}

/** Loads every module of one of our own folders: a file that is added there is served, with nothing else to edit. */
export async function loadFolder (app: FastifyInstance, folder: URL): Promise<void> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.js')).sort()
  for (const name of files) await contribute(app, new URL(name, folder))
}

async function contribute (app: FastifyInstance, url: URL): Promise<void> {
  try {
    const { default: exported } = await import(url.href) as { default?: Contribution }
    await add(app, exported)
  } catch (error) {
    throw new Error(`plugin ${fileURLToPath(url)}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

async function add (app: FastifyInstance, item: Contribution | undefined): Promise<void> {
  if (typeof item === 'function') await app.register(item)
  else if (Array.isArray(item)) for (const one of item) await add(app, one)
  else if (item?.kind === 'tool') app.tools.add(item)
  else if (item?.kind === 'resource') app.resources.add(item)
  else if (item?.kind === 'prompt') app.prompts.add(item)
  else throw new Error('the default export must be a tool, a resource, a prompt, a list of them, or a Fastify plugin')
}
