import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { SHIPPED } from './support/command.js'
import { folder, initialize, Launched, toolCall } from './support/process.js'

// What a start takes is counted in files and bytes: unlike time, they are the same on every machine.

/** The most bytes of JavaScript that a launch over stdio may load. */
const MOST_BYTES = 1_700_000

const WITNESS = `
  import { createRequire, register } from 'node:module'
  import { appendFileSync } from 'node:fs'
  const { cache } = createRequire(import.meta.url)
  register('./hooks.mjs', import.meta.url)
  process.on('exit', () => appendFileSync(new URL('loaded', import.meta.url), Object.keys(cache).map(file => file + '\\n').join('')))`

const HOOKS = `
  import { appendFileSync } from 'node:fs'
  export async function load (url, context, next) {
    if (!url.startsWith('node:')) appendFileSync(new URL('loaded', import.meta.url), url + '\\n')
    return await next(url, context)
  }`

/** Runs the command as it is shipped, and gives which files were loaded until it had ended. */
async function filesOf (
  t: Test,
  args: string[],
  talk?: (launched: Launched) => Promise<void>,
  plugin = ''
): Promise<string[]> {
  const path = await folder(t, { 'witness.mjs': WITNESS, 'hooks.mjs': HOOKS, 'plugin.mjs': plugin, loaded: '' })
  const witnessed = ['--import', pathToFileURL(join(path, 'witness.mjs')).href, SHIPPED, ...args]
  const launched = new Launched(
    spawn(process.execPath, witnessed, { cwd: path, env: { PATH: process.env['PATH'], XDG_DATA_HOME: path } })
  )
  t.teardown(() => launched.kill('SIGKILL'))
  await talk?.(launched)
  launched.end()
  const { code, stderr } = await launched.exit()
  t.equal(code, 0, stderr)
  const lines = readFileSync(join(path, 'loaded'), 'utf8')
    .split('\n')
    .filter(line => line !== '')
  return [...new Set(lines.map(line => (line.startsWith('file:') ? fileURLToPath(line) : line)))].filter(
    file => !file.startsWith(path)
  )
}

/** The packages that files belong to, besides our own. */
const packagesOf = (files: string[]): string[] =>
  [...new Set(files.flatMap(file => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []))].sort()

t.test('a launch over stdio loads a handful of files, and nothing of what it does not use', async t => {
  const files = await filesOf(t, ['--stdio'], async launched => {
    launched.send(
      initialize,
      { id: 2, method: 'tools/list' },
      toolCall(3, 'calculate', { operation: 'add', a: 1, b: 2 })
    )
    t.match(
      [await launched.next(), await launched.next(), await launched.next()],
      [{ id: 'hello' }, { id: 2, result: { tools: Array } }, { id: 3, result: { structuredContent: { result: 3 } } }]
    )
  })
  t.strictSame(packagesOf(files), [], 'no package that is not bundled')
  t.ok(files.some(file => file.endsWith('.node')), 'SQLite, so a data file was opened')
  t.notOk(
    files.some(file =>
      /[\\/]late[\\/]|http-server|access-token|results-page|file-type|console/.test(relative(dirname(SHIPPED), file))
    ),
    `no HTTP, console, WebSocket, tokens, pages or file types: ${files.join(' ')}`
  )
  t.ok(files.length <= 24, `${files.length} files: ${files.join(' ')}`)
  const bytes = files.filter(file => /js$/.test(file)).reduce((sum, file) => sum + statSync(file).size, 0)
  t.ok(bytes <= MOST_BYTES, `${bytes} bytes`)
})

t.test('Ajv is loaded when the first error text is needed', async t => {
  const files = await filesOf(t, ['--stdio', '--ephemeral'], async launched => {
    launched.send(initialize, toolCall(1, 'calculate', { operation: 'add', a: 'one', b: 2 }))
    await launched.next()
    t.match(await launched.next(), { result: { isError: true, content: [{ text: /a must be number/ }] } })
  })
  t.ok(files.some(file => /[\\/]late[\\/]ajv\.cjs$/.test(file)), 'so the first test would have seen it')
})

const ROUTE = `
  const number = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const headers = { type: 'object', properties: { 'X-Number': { type: 'integer' } }, required: ['X-Number'] }
  export default async fastify => fastify.post('/twice', { schema: { headers, body: number, response: { 200: number } } }, async ({ body, headers }) => {
    const { statusCode } = await fastify.inject('/health')
    return { n: 2 * body.n * headers['x-number'] + statusCode, secret: true }
  })`

t.test('modules that are loaded late are there when they are used: route schemas, requests of a plugin', async t => {
  const files = await filesOf(
    t,
    ['--stdio', '--port', '0', '--ephemeral', '--plugin', 'plugin.mjs'],
    async launched => {
      const url = `${await launched.url()}/twice`
      const post = async (headers: Record<string, string>, n: unknown) =>
        await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ n })
        })
      t.strictSame(
        await (await post({ 'x-number': '3' }, 4)).json(),
        { n: 224 },
        'what the schema does not name is left out'
      )
      t.match(await (await post({ 'x-number': '3' }, 'four')).text(), 'body/n must be integer')
      t.match(await (await post({}, 4)).text(), 'x-number')
    },
    ROUTE
  )
  t.equal(files.filter(file => /[\\/]late[\\/]/.test(file)).length, 4)
})

for (const [most, ...args] of [[8, '--version'], [8, '--help'], [10, 'key', 'me']] as Array<[number, ...string[]]>) {
  t.test(`patchbay ${args.join(' ')} does not load a server`, async t => {
    const files = await filesOf(t, args)
    t.strictSame(packagesOf(files), [])
    t.ok(files.length > 0 && files.length <= most, files.join(' '))
    t.notOk(files.some(file => /app\.js$/.test(file)), 'not even Fastify')
  })
}
