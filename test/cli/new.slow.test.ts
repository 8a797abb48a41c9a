import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { COMPILERS, runNode } from '../support/installed.js'
import { folder, initialize, launch, toolCall } from '../support/process.js'
import { manifest, ROOT } from '../scripts/packed.js'

const run = promisify(execFile)
const PLACE = fileURLToPath(ROOT)

/** npm without the network. */
const NPM = ['--offline', '--no-audit', '--no-fund', '--loglevel=error']

t.test('a new package is installed, compiled, tested, packed, and served by its name', { timeout: 300_000 }, async t => {
  const place = await folder(t, {})
  const npm = async (args: string[], cwd: string): Promise<string> => {
    const env = { ...process.env, npm_config_cache: join(place, 'cache') }
    return (await run('npm', args, { cwd, env, maxBuffer: 2 ** 25 })).stdout
  }
  const pack = async (from: string): Promise<string> =>
    join(place, (await npm(['pack', from, '--ignore-scripts', '--loglevel=error', '--pack-destination', place], place)).trim())
  /** Packages of the checkout in place of those of the registry, which a test does not ask. */
  const local = async (name: string): Promise<[string, string]> =>
    [name, `file:${await pack(name === 'mcp-patchbay' ? PLACE : join(PLACE, 'node_modules', name))}`]
  t.match(await launch(t, ['new', 'word-count'], { cwd: place }).exit(), { code: 0 })
  const made = join(place, 'word-count')

  const file = join(made, 'package.json')
  const written = JSON.parse(await readFile(file, 'utf8')) as { devDependencies: Record<string, string> }
  t.strictSame(Object.keys(written.devDependencies), ['@types/node', 'mcp-patchbay', 'typescript'])
  t.equal(written.devDependencies['mcp-patchbay'], `file:${PLACE.replace(/\/$/, '')}`, 'the checkout that wrote it')
  await writeFile(file, JSON.stringify({
    ...written,
    devDependencies: Object.fromEntries(await Promise.all(Object.keys(written.devDependencies).map(local))),
    overrides: Object.fromEntries(await Promise.all(['undici-types', ...Object.keys(manifest.dependencies)].map(local)))
  }))

  await npm(['install', ...NPM], made)
  t.match(await npm(['test'], made), /pass 3\n[^]*fail 0\n/)
  t.strictSame(await runNode(made, [COMPILERS['TypeScript 7'], '--noEmit']), { code: 0, output: '' }, 'TypeScript 7')
  const packed = await npm(['pack', '--json', '--loglevel=error'], made)
  const [{ files = [] } = {}] = JSON.parse(packed.slice(packed.indexOf('['))) as Array<{ files?: Array<{ path: string }> }>
  t.strictSame(
    files.map(({ path }) => path).sort(),
    ['README.md', 'dist/word-count.d.ts', 'dist/word-count.js', 'package.json']
  )

  await rm(join(made, 'node_modules'), { recursive: true })
  const user = await folder(t, { 'package.json': '{"private":true}' })
  await npm(['install', ...NPM, join(made, 'word-count-0.1.0.tgz')], user)
  const served = launch(t, ['--stdio', '--ephemeral', '--plugin', 'word-count'], { cwd: user })
  served.send(initialize, toolCall(1, 'word_count', { text: 'one two' }))
  await served.next()
  t.match(await served.next(), { id: 1, result: { content: [{ text: 'Words: 2' }] } })
  served.end()
  t.equal((await served.exit()).code, 0)
})
