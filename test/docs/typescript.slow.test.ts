import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { folder, initialize, launch } from '../support/process.js'
import { announce, type Block, ROOT, runnable } from './blocks.js'

const INSTALLED = ['fastify', 'fastify-plugin', 'tap', 'zod', '@types/node', '@modelcontextprotocol/sdk']

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2023',
    module: 'NodeNext',
    moduleDetection: 'force',
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: ['node']
  }
}

const { blocks, marked } = runnable('ts')
/** True for a plugin of a gateway; one of an application registers Patchbay itself. */
const isPlugin = ({ code }: Block): boolean => /^export default/m.test(code) && !code.includes('register(patchbay')
const fileOf = ({ page, line }: Block): string => `${page.replaceAll(/\W/g, '-')}-${line}.ts`
const sourceOf = ({ given = '', code }: Block): string => `${given.replaceAll('\n', ' ')}\n${code}`

t.test('every ts block of README and docs compiles as in the project of an author', async t => {
  const project = await install(t)
  for (const block of blocks) writeFileSync(join(project, fileOf(block)), sourceOf(block))
  const tsc = fileURLToPath(new URL('node_modules/typescript7/bin/tsc', ROOT))
  const { stdout } = spawnSync(process.execPath, [tsc, '--pretty', 'false'], {
    cwd: project,
    encoding: 'utf8',
    timeout: 100_000
  })
  const errors = stdout.split('\n').filter(line => line.includes('error TS'))
  for (const block of blocks) {
    t.strictSame(
      errors.filter(line => line.startsWith(`${fileOf(block)}(`)),
      [],
      `${block.page}:${block.line}`
    )
  }
  t.strictSame(errors.filter(line => !blocks.some(block => line.startsWith(`${fileOf(block)}(`))), [], 'other errors')
  announce(`${blocks.length} ts blocks were compiled, ${marked} are marked as not run`)
})

t.test('every ts block with a default export is a plugin that the command loads, with nothing installed', async t => {
  const plugins = blocks.filter(isPlugin)
  t.ok(plugins.length > 3)
  for (const block of plugins) {
    const file = join(await folder(t, { [fileOf(block)]: sourceOf(block) }), fileOf(block))
    const gateway = launch(t, ['--stdio', '--ephemeral', '--plugin', file])
    gateway.send(initialize)
    gateway.end()
    const { code, stdout, stderr } = await gateway.exit()
    t.match(
      { code, stdout },
      { code: 0, stdout: /"serverInfo"/ },
      `${block.page}:${block.line} ${code === 0 ? '' : stderr}`
    )
  }
})

/** The folder of an author who has installed the package: this checkout, and packages from its node_modules. */
async function install (t: Test): Promise<string> {
  const project = await folder(t, { 'package.json': '{"type":"module"}', 'tsconfig.json': JSON.stringify(TSCONFIG) })
  link('mcp-patchbay', '.')
  for (const name of INSTALLED) link(name, `node_modules/${name}`)
  return project

  function link (name: string, target: string): void {
    const place = join(project, 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(fileURLToPath(new URL(target, ROOT)), place)
  }
}
