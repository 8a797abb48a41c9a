import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { upstreamsReady } from '../support/upstreams.js'
import { inTime } from '../support/wait.js'
import { withBystanders } from './hostile/bystanders.js'
import { httpAttacks } from './hostile/http-attacks.js'

t.test('others do not notice a server on HTTP that sends', async t => {
  t.setTimeout(240_000)
  const port = await startHostile(t)
  const other = await otherHost(t)
  for (const name of Object.keys(httpAttacks)) {
    await t.test(name, async t => {
      const headers = { authorization: 'Bearer secret of the entry', 'x-other-host': other.url }
      const { app, client, check } = await withBystanders(t, {
        type: 'http',
        url: `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
        headers,
        timeout: 2_000
      })
      await upstreamsReady(app, ['bad'])
      const call = async (tool: string) => await client.request('tools/call', { name: tool, arguments: {} })
      const { message, result } = await inTime(
        call('bad__attack').then(
          result => ({ message: '', result }),
          ({ message }: Error) => ({ message, result: undefined })
        ),
        'the end of the attack'
      )
      if (result === undefined) t.match(message, /\bbad\b/, 'the error names the server')
      else t.equal(name, 'a length that is too short', 'only what cannot be known passes for an answer')
      t.notMatch(message, /own page|127\.0\.0\.1|secret|evil/, 'and nothing that the server or its entry says')
      t.match(await call('bad__fine'), { content: [{ text: 'done' }] }, 'the server can be used')
      await check()
    })
  }
  t.equal(other.requests, 0, 'no other host was asked')
})

async function startHostile (t: Test): Promise<number> {
  const child = fork(fileURLToPath(new URL('hostile/http-program.js', import.meta.url)))
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const [{ port }] = await inTime(once(child, 'message'), 'the start of the hostile servers') as [{ port: number }]
  return port
}

async function otherHost (t: Test): Promise<{ url: string, requests: number }> {
  const server = createServer((_request, reply) => { host.requests++; reply.end('{}') }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const host = { url: `http://localhost:${(server.address() as { port: number }).port}/`, requests: 0 }
  return host
}
