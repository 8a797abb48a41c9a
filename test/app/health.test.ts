import http from 'node:http'
import t from 'tap'
import { tool } from '../../app.js'
import { listening } from '../support/gateway.js'

t.test('a server that is closing is not healthy any more, while what is in flight is still answered', async t => {
  const { app, url } = await listening(t)
  const started = defer()
  const released = defer()
  app.mcp.tools.add(
    tool({
      name: 'wait',
      description: 'Waits',
      run: async () => {
        started.resolve()
        await released.promise
        return 'done'
      }
    })
  )
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.match(await get(`${url}/health`, agent), { status: 200, body: /"ready":true/ })

  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } })
  const answer = fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body
  }).then(async reply => await reply.text())
  await started.promise
  const closed = app.close()
  const { status, body: report } = await get(`${url}/health`, agent)
  t.equal(status, 503)
  t.match(JSON.parse(report), {
    status: 'draining',
    reason: /shutting down/,
    parts: { server: /shutting down/ },
    live: true,
    ready: false,
    name: 'mcp-patchbay'
  })
  released.resolve()
  t.match(await answer, /done/)
  await closed
})

function defer (): { promise: Promise<void>, resolve: () => void } {
  let release = () => {}
  return { promise: new Promise(resolve => { release = resolve }), resolve: () => release() }
}

async function get (url: string, agent: http.Agent): Promise<{ status: number | undefined, body: string }> {
  return await new Promise((resolve, reject) => {
    http.get(url, { agent }, reply => {
      let body = ''
      reply
        .setEncoding('utf8')
        .on('data', (text: string) => {
          body += text
        })
        .on('end', () => resolve({ status: reply.statusCode, body }))
    }).on('error', reject)
  })
}
