import t, { type Test } from 'tap'
import { WatchLines } from '../../../cli/ask/watch-lines.js'
import { hashOf } from '../../../system/credentials/api-key.js'
import matrixFixture from '../../matrix/fixture.js'
import fixture, { listening } from '../../support/gateway.js'
import { launch, PROCESSES, type Launched } from '../../support/process.js'
import { revisions } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'

type Json = Record<string, unknown>

const KEY = 'k'.repeat(43)
const KEYS = [{ name: 'user', hash: hashOf(KEY), scopes: ['mcp'] }]

/** The notifications that a watcher has printed. */
const printed = ({ stdout }: Launched): Array<{ method: string, params: Json }> =>
  stdout.split('\n').filter(line => line !== '').map(line => JSON.parse(line) as { method: string, params: Json })

/** Waits until a watcher has printed a notification; `again` brings it about, and may be called several times. */
async function waitFor (
  watcher: Launched,
  what: (method: string, params: Json) => boolean,
  again: () => Promise<unknown>
): Promise<void> {
  await until(async () => {
    await again()
    return printed(watcher).some(({ method, params }) => what(method, params))
  }, 'the notification').catch(error => {
    throw new Error(`${String(error)}: ${watcher.stdout} ${watcher.stderr}`)
  })
}

async function end (t: Test, watcher: Launched): Promise<void> {
  watcher.kill('SIGINT')
  t.match(await watcher.exit(), { code: 130, stderr: '' })
}

t.test('patchbay watch prints what a server announces, one line of JSON each', async t => {
  t.jobs = PROCESSES
  for (const { version, modern } of revisions) {
    for (const way of ['HTTP', 'WebSocket', 'HTTP+SSE']) {
      if (modern && way === 'HTTP+SSE') continue
      t.test(`${version} over ${way}`, { buffered: true }, async t => {
        const { app, url } = await listening(t, { plugins: [fixture, matrixFixture], apiKeys: KEYS })
        const target = way === 'HTTP+SSE' ? `${url}/sse` : `${way === 'HTTP' ? url : url.replace('http', 'ws')}/mcp`
        const env = { PATCHBAY_KEY: KEY }
        const watcher = launch(t, ['watch', 'test://text', '--revision', version, '--url', target], { env })
        let count = 0
        await waitFor(watcher, (method, { uri }) => method === 'notifications/resources/updated' && uri === 'test://text', async () => {
          app.mcp.resources.updated('test://text')
        })
        const { tool } = await import('../../../app.js')
        await waitFor(watcher, method => method === 'notifications/tools/list_changed', async () => {
          app.mcp.tools.add(tool({ name: `new_${count++}`, description: 'New', run: () => 'x' }))
        })
        t.notOk(printed(watcher).some(({ method }) => method.includes('patchbay/watch')), 'no feed without the scope')
        await end(t, watcher)
      })
    }
  }

  for (const version of ['2025-11-25', '2026-07-28']) {
    t.test(`the feed of a Patchbay, in ${version}`, { buffered: true }, async t => {
      const { url } = await listening(t)
      const at = ['--url', `${url}/mcp`]
      const watcher = launch(t, ['watch', '--revision', version, ...at])
      await waitFor(watcher, (method, { ended }) =>
        method === 'notifications/patchbay/watch' && Array.isArray(ended) && ended.some(({ tool }) => tool === 'echo'),
      async () => await launch(t, ['call', 'echo', 'text=x', ...at]).exit())
      await end(t, watcher)
    })
  }

  t.test('a watch ends with 3 when the server does', { buffered: true }, async t => {
    const { app, url } = await listening(t, { grace: 100 })
    const watcher = launch(t, ['watch', '--url', `${url.replace('http', 'ws')}/mcp`])
    await until(() => watcher.stdout.includes('patchbay/watch'), 'the first batch')
    await app.close()
    t.match(await watcher.exit(), { code: 3, stderr: /^patchbay: (the gateway has ended the watch|the connection has ended: .*|the server was lost .*)\n$/ })
  })

  t.test('a resource that cannot be subscribed to is said', { buffered: true }, async t => {
    const server = `process.stdin.on('data', data => { for (const line of String(data).trim().split('\\n')) { const { id, method, params } = JSON.parse(line)
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'initialize' ? { result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } } : { error: { code: -32601, message: 'no' } }) })) } })`
    t.match(await launch(t, ['watch', 'x://y', '--', process.execPath, '-e', server]).exit(), {
      code: 3,
      stderr: 'patchbay: the server failed: it has no subscriptions to resources\n'
    })
  })
})

t.test('notifications are put into words for a terminal', async t => {
  const lines = new WatchLines()
  const batch = (params: Json): string[] => lines.linesOf('notifications/patchbay/watch', params)
  const call = { at: 1, ms: 12.4, outcome: 'ok', transport: 'http', revision: 'x' }
  t.strictSame(batch({ gateway: { name: 'g', version: '1' }, ended: [{ ...call, tool: 'old' }], health: { status: 'healthy' } }), [
    'watching g 1',
    'health healthy'
  ])
  t.strictSame(batch({ ended: [{ ...call, tool: 'echo', principal: 'ada\u001b' }, { ...call, method: 'ping', outcome: 'error', code: -1 }], dropped: 2 }), [
    '2 calls are left out',
    'echo ok in 12 ms (ada\\u{1b}, http)',
    'ping error -1 in 12 ms (http)'
  ])
  const files = { alias: 'files', state: 'ready', tools: 1 }
  t.strictSame(batch({ upstreams: [files] }), ['upstream files ready, 1 tool'])
  t.strictSame(batch({ upstreams: [files], health: { status: 'healthy' } }), [], 'nothing is said twice')
  t.strictSame(batch({ upstreams: [{ alias: 'files', state: 'backing off', failing: true, lastError: 'it exited' }] }), [
    'upstream files backing off: it exited'
  ])
  t.strictSame(lines.linesOf('notifications/tools/list_changed', {}), ['the list of tools has changed'])
  t.strictSame(lines.linesOf('notifications/resources/updated', { uri: 'a\nb' }), ['a b has changed'])
  t.strictSame(lines.linesOf('notifications/message', { level: 'info', data: { a: 1 } }), ['[info] {"a":1}'])
  t.strictSame(lines.linesOf('notifications/subscriptions/acknowledged', {}), [])
  t.strictSame(lines.linesOf('notifications/other', { a: 1, _meta: {} }), ['other {"a":1}'])
})
