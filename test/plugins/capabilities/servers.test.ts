import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient } from '../../../app.js'
import { folder } from '../../support/process.js'
import { gateway } from '../../support/gateway.js'
import { newestLegacy } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import { openFixture } from '../../upstreams/fixture/open.js'

/**
 * A gateway in front of a server that ends at once until the file `mended` is there, and of others that run or are
 * disabled.
 */
async function open (t: Test) {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const { command, args } = entry as { command: string, args: string[] }
  const mended = join(await folder(t, {}), 'mended')
  const code = `console.error('no disk, the key is ' + process.env.KEY); if (!require('node:fs').existsSync(${JSON.stringify(mended)})) process.exit(3); require('node:child_process').spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: 'inherit', env: process.env })`
  const broken = {
    ...entry,
    command: process.execPath,
    args: ['-e', code],
    env: { ...(entry as { env?: object }).env, KEY: 'abcdefgh' }
  }
  const app = await gateway(t, {
    limits: { maxUpstreamFailures: 2, upstreamRestartDelay: 1 },
    mcpServers: { broken, good: entry, off: { ...entry, disabled: true } }
  })
  const state = (): string | undefined => app.mcp.upstreams.status().find(({ alias }) => alias === 'broken')?.state
  await until(() => state() === 'crash loop' && app.mcp.upstreams.get('good')?.status.state === 'ready')
  return { app, state, mend: () => writeFileSync(mended, '') }
}

t.test('an operator starts a server in a crash loop again, once its cause is mended', async t => {
  const { app, state, mend } = await open(t)
  const client = await createClient(app)
  t.teardown(() => client.close())
  t.match(
    await client.request('patchbay/servers/log', { server: 'broken' }),
    { lines: ['no disk, the key is ***'] },
    'without secrets'
  )
  mend()
  t.strictSame(await client.request('patchbay/servers/start', { server: 'broken' }), {})
  await until(() => state() === 'ready', 'the server runs')
  await t.rejects(client.request('patchbay/servers/start', { server: 'broken' }), {
    code: -32602,
    message: /runs already/
  })
  t.match(
    app.mcp.upstreams.get('broken')?.lastLines(),
    ['no disk, the key is ***'],
    'what it wrote before it failed is kept'
  )
})

t.test('a start is refused in words where there is nothing to start, and a moment after the last one', async t => {
  const { app, state } = await open(t)
  const client = await createClient(app)
  t.teardown(() => client.close())
  const start = async (server: string): Promise<unknown> => await client.request('patchbay/servers/start', { server })
  await t.rejects(start('good'), { code: -32602, message: /"good" runs already/ })
  await t.rejects(start('off'), { code: -32602, message: /"off" is disabled in the configuration/ })
  await t.rejects(start('brokn'), {
    code: -32602,
    message: /no upstream server has the name "brokn"; did you mean "broken"\?/
  })
  await t.rejects(client.request('patchbay/servers/log', { server: 'other' }), { code: -32602 })
  const before = performance.now()
  await start('broken')
  await until(() => state() === 'crash loop', 'it failed again')
  // However long that took.
  t.intercept(performance, 'now', { value: () => before + 1 })
  await t.rejects(start('broken'), { code: -32602, message: /started by hand a moment ago; try again in \d+ s/ })
})

t.test(
  'a server that is left out because of a mistake is shown to watchers with its reason, and not started',
  async t => {
    const app = await gateway(t, { mcpServers: { wrong: { command: 'x', args: 'hunter2' } as object } })
    const client = await createClient(app)
    t.teardown(() => client.close())
    const stop = new AbortController()
    const watching = client.request('patchbay/watch', { only: ['upstreams'] }, stop.signal).catch(() => {})
    const batch = await client.notified('notifications/patchbay/watch')
    const why = 'option mcpServers.wrong.args must be a list of strings'
    t.match(batch, { upstreams: [{ alias: 'wrong', state: 'misconfigured', failing: true, lastError: why, tools: 0 }] })
    const message = `the server "wrong" is left out: ${why}. Mend the configuration and reload it`
    for (const method of ['patchbay/servers/start', 'patchbay/servers/log']) {
      await t.rejects(client.request(method, { server: 'wrong' }), { code: -32602, message })
    }
    await t.rejects(client.request('patchbay/servers/start', { server: 'wron' }), { message: /did you mean "wrong"/ })
    await app.mcp.upstreams.configure([], [])
    t.strictSame(app.mcp.upstreams.leftOut(), [], 'and gone once the configuration is mended')
    stop.abort()
    await watching
  }
)

t.test('to callers without the scope admin, the methods do not exist', async t => {
  const app = await gateway(t)
  const client = await createClient(app, { identity: { principal: 'eve', scopes: new Set(['mcp']) } })
  t.teardown(() => client.close())
  for (const method of ['patchbay/servers/start', 'patchbay/servers/log']) {
    await t.rejects(client.request(method, { server: 'x' }), { code: -32601, message: `Method not found: ${method}` })
  }
})
