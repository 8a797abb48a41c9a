import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { blocksOf } from '../docs/blocks.js'
import { folder } from '../support/process.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2023',
    module: 'NodeNext',
    moduleDetection: 'force',
    preserveSymlinks: true,
    types: ['node']
  }
}

/** Where Fastify is not installed: what authors of tools write. */
const AUTHOR = `
  // @ts-expect-error it is not there
  import type { FastifyInstance } from 'fastify'
  import { tool, Type } from 'mcp-patchbay'
  export default tool({ name: 'twice', description: 'd', input: Type.Object({ n: Type.Number() }), run: ({ n }, call) => {
    const signal: AbortSignal = call.signal
    // @ts-expect-error n is a number
    const wrong: string = n
    return String([2 * n, wrong, signal])
  } })`

const samples = blocksOf('docs/embed.md').filter(({ language, notRun }) => language === 'ts' && notRun === undefined)
const sources = Object.fromEntries(
  samples.map(({ line, given = '', code }) => [`embed-${line}.ts`, `${given.replaceAll('\n', ' ')}\n${code}`])
)

/** Compiles with the oldest Fastify only, so that the test cannot take another for it. */
const OLDEST = `
  // @ts-expect-error it came in a later version
  import type { LogController } from 'fastify'`

for (const [age, name, guard] of [['oldest', 'fastify-oldest', OLDEST], ['newest', 'fastify', '']] as const) {
  t.test(`docs/embed.md compiles with the types of the ${age} Fastify, those of the libraries included`, async t => {
    t.ok(samples.length > 1)
    // Below this project, where the packages that Fastify needs are found.
    const project = await mkdtemp(join(ROOT, 'build/embed-types-'))
    t.teardown(async () => await rm(project, { recursive: true, force: true }))
    await install(project, { ...sources, 'guard.ts': guard })
    await link(project, 'fastify', name)
    t.equal(await compile(project), '')
  })
}

t.test('a tool compiles with inferred types where Fastify is not installed', async t => {
  const project = await folder(t, {})
  await install(project, { 'tool.ts': AUTHOR })
  for (const name of ['@types/node', 'undici-types', '@sinclair/typebox']) await link(project, name, name)
  t.equal(await compile(project), '')
})

/** Writes the files of a project that has the package as it is shipped, and no Fastify. */
async function install (project: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(project, 'node_modules/mcp-patchbay'), { recursive: true })
  await copyFile(join(ROOT, 'package.json'), join(project, 'node_modules/mcp-patchbay/package.json'))
  await link(project, 'mcp-patchbay/dist', '../dist')
  const all = { ...files, 'package.json': '{"type":"module"}', 'tsconfig.json': JSON.stringify(TSCONFIG) }
  for (const [name, content] of Object.entries(all)) await writeFile(join(project, name), content)
}

async function link (project: string, name: string, target: string): Promise<void> {
  const place = join(project, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(ROOT, 'node_modules', target), place)
}

async function compile (project: string): Promise<string> {
  return await text(
    spawn(process.execPath, [join(ROOT, 'node_modules/typescript7/bin/tsc'), '--pretty', 'false'], { cwd: project })
      .stdout
  )
}
