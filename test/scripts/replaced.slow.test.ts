import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { shortError } from '../../cli/logger.js'
import { entry } from '../../version.js'
import { folder, initialize, Launched, toolCall } from '../support/process.js'
import { until } from '../support/wait.js'
import { ROOT } from './packed.js'

/** Files that a bundle is not made of. */
const OTHERS = /^(\..*|node_modules|build|dist|docs|test|bench|deploy)$/

/** A checkout with the present bundle, in which another one can be made. */
async function checkout (t: Test): Promise<string> {
  const root = await folder(t, {})
  for (const name of readdirSync(ROOT).filter(name => !OTHERS.test(name))) {
    cpSync(fileURLToPath(new URL(name, ROOT)), join(root, name), { recursive: true })
  }
  symlinkSync(fileURLToPath(new URL('node_modules', ROOT)), join(root, 'node_modules'))
  bundle(root)
  return root
}

/** Bundles as a build does, after a change to the sources of the gateway and of the console. */
function bundle (root: string, change?: string): void {
  for (const file of change === undefined
    ? []
    : ['protocol/watch/feed.ts', 'protocol/schema/error-text.ts', 'console/main.tsx']) {
    const path = join(root, file)
    if (existsSync(path)) {
      writeFileSync(
        path,
        `${readFileSync(path, 'utf8')}\nObject.defineProperty(globalThis, '${change}', { value: 1, configurable: true })\n`
      )
    }
  }
  const steps = [
    "await import('./scripts/bundle.mjs')",
    "const { endBuild } = await import('./scripts/bundle/last-build.mjs')",
    `endBuild('.', ${JSON.stringify(change ?? 'first')})`
  ]
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', steps.join('\n')], {
    cwd: root,
    encoding: 'utf8'
  })
  if (status !== 0) throw new Error(stderr)
}

const feeds = (root: string): string[] => readdirSync(join(root, 'dist')).filter(name => /^feed-\w+\.js$/.test(name))

function start (t: Test, root: string): Launched {
  const launched = new Launched(
    spawn(process.execPath, [join(root, 'dist/cli.js'), '--stdio', '--port', '0', '--ephemeral'], {
      cwd: root,
      env: { PATH: process.env['PATH'], XDG_DATA_HOME: root, PATCHBAY_LIMITS: 'maxEventLoopDelay=60000' }
    })
  )
  t.teardown(async () => { launched.kill('SIGKILL'); await launched.ended })
  return launched
}

/** The status and the length of the console's page and of all that it names. */
async function consoleOf (url: string): Promise<Array<[status: number, bytes: number]>> {
  const page = await fetch(`${url}/console/`)
  const html = await page.text()
  const names = [...html.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, name]) => name as string)
  const parts = await Promise.all(names.map(async name => await fetch(`${url}/console/${name}`)))
  return [
    [page.status, html.length],
    ...(await Promise.all(parts.map(async part => [part.status, (await part.text()).length] as [number, number])))
  ]
}

const WRONG = toolCall(1, 'calculate', { operation: 'add', a: 'one', b: 2 })
const WATCH = { id: 2, method: 'patchbay/watch', params: {} }

t.test(
  'a gateway that runs goes on after a rebuild, with what it loads late; after its files are gone the log says to restart it',
  async t => {
    const root = await checkout(t)
    const [running, replaced] = [start(t, root), start(t, root)]
    const [url, other] = [await running.url(), await replaced.url()]
    const before = feeds(root)
    bundle(root, 'changed')
    t.equal(before.length, 1)
    t.equal(feeds(root).length, 2, 'the late file of the first bundle is kept')

    running.send(initialize, WRONG)
    t.match(await running.next(), { id: 'hello' })
    t.match(await running.next(), { id: 1, result: { isError: true, content: [{ text: /a must be number/ }] } })
    running.send(WATCH)
    t.match(await running.next(), { method: 'notifications/patchbay/watch' })
    const served = await consoleOf(url)
    t.ok(served.length >= 3 && served.every(([status, bytes]) => status === 200 && bytes > 100), JSON.stringify(served))

    rmSync(join(root, 'dist'), { recursive: true })
    replaced.send(initialize, WATCH)
    t.match(await replaced.next(), { id: 'hello' })
    t.match(await replaced.next(), { id: 2, error: { code: -32603 } })
    await until(() => /feed-\w+\.js.*replaced while it ran: restart the gateway/.test(replaced.stderr))
    replaced.send(WRONG)
    t.match(await replaced.next(), { id: 1, error: { code: -32603 } })
    await until(() => /ajv\.cjs.*replaced while it ran: restart the gateway/.test(replaced.stderr))
    t.equal((await consoleOf(other))[0]?.[0], 404)
    await until(() =>
      /a file of the console cannot be read; if the gateway was built anew, restart it/.test(replaced.stderr)
    )
  }
)

t.test('only a file of this installation that is gone is a reason to restart', async t => {
  const here = fileURLToPath(new URL('feed-1.js', entry))
  const gone = Object.assign(new Error(`Cannot find module '${here}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  t.match(shortError(gone), {
    message: /feed-1\.js'\. The files of this version were replaced while it ran: restart the gateway$/
  })
  t.notMatch(
    shortError(Object.assign(new Error("Cannot find module '/other/x.js'"), { code: 'ERR_MODULE_NOT_FOUND' })),
    { message: /restart/ }
  )
})
