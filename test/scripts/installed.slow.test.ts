import { spawn } from 'node:child_process'
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { folder, initialize, Launched, toolCall } from '../support/process.js'
import { manifest, packedFiles, ROOT } from './packed.js'

/** A folder in which the packed files and the dependencies are installed, and nothing else. */
async function installation (t: Test): Promise<string> {
  const path = await folder(t, {})
  for (const { path: file } of packedFiles()) await copyInto(join(path, 'node_modules/mcp-patchbay', file), file)
  for (const name of Object.keys(manifest.dependencies)) {
    await cp(new URL(`node_modules/${name}`, ROOT), join(path, 'node_modules', name), { recursive: true })
  }
  return path
}

async function copyInto (target: string, file: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await copyFile(fileURLToPath(new URL(file, ROOT)), target)
}

function start (t: Test, path: string, args: string[], env: Record<string, string> = {}): Launched {
  const command = join(path, 'node_modules/mcp-patchbay/dist/cli.js')
  const launched = new Launched(
    spawn(process.execPath, [command, ...args], {
      cwd: path,
      env: { PATH: process.env['PATH'], XDG_DATA_HOME: path, PATCHBAY_LIMITS: 'maxEventLoopDelay=60000', ...env }
    })
  )
  t.teardown(async () => { launched.kill('SIGKILL'); await launched.ended })
  return launched
}

const PLUGIN = `
  import { Type } from '@sinclair/typebox'
  import fp from 'fastify-plugin'
  import { tool } from 'mcp-patchbay'
  enum Twice { factor = 2 }
  export default [
    tool({ name: 'twice', description: 'd', input: Type.Object({ n: Type.Number() }), run: ({ n }: { n: number }) => String(Twice.factor * n) }),
    fp(async app => { app.post('/twice', { schema: { body: Type.Object({ n: Type.Number() }) } }, async ({ body }) => Twice.factor * (body as { n: number }).n) })
  ]`

t.test('the packed files work with their dependencies only: stdio, HTTP, disk, Redis and TypeScript plugins', withRedis, async t => {
  const path = await installation(t)
  const redis = await redisServer(t)
  await writeFile(join(path, 'plugin.ts'), PLUGIN)
  const first = start(t, path, ['--stdio', '--port', '0', '--plugin', 'plugin.ts'], { PATCHBAY_REDIS: redis.url })
  const url = await first.url()

  first.send(
    initialize,
    toolCall(1, 'twice', { n: 4 }),
    toolCall(2, 'twice', { n: 'four' }),
    toolCall(3, 'add_note', { content: 'kept for long' })
  )
  t.match(await first.next(), { id: 'hello' })
  const answers = [await first.next(), await first.next(), await first.next()].sort(
    (a, b) => Number(a['id']) - Number(b['id'])
  )
  t.match(answers, [
    { id: 1, result: { content: [{ text: '8' }] } },
    { id: 2, result: { content: [{ text: /n must be number/ }] } },
    { id: 3, result: { isError: false } }
  ])
  t.equal(
    await (
      await fetch(`${url}/twice`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":21}' })
    ).text(),
    '42'
  )
  t.match(await (await fetch(`${url}/health`)).json(), { status: 'healthy' }, 'Redis is there')
  first.end()
  t.equal((await first.exit()).code, 0)

  const second = start(t, path, ['--stdio'], { PATCHBAY_REDIS: redis.url })
  second.send(initialize, toolCall(1, 'get_notes', {}))
  await second.next()
  t.match(JSON.stringify(await second.next()), 'kept for long')
  second.end()
  t.equal((await second.exit()).code, 0)

  const onDisk = [
    [toolCall(1, 'add_note', { content: 'kept on disk' }), '"isError":false'],
    [toolCall(1, 'get_notes', {}), 'kept on disk']
  ] as const
  for (const [call, expected] of onDisk) {
    const launched = start(t, path, ['--stdio'])
    launched.send(initialize, call)
    await launched.next()
    t.match(JSON.stringify(await launched.next()), expected)
    launched.end()
    t.equal((await launched.exit()).code, 0)
  }
})
