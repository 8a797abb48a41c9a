import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { createClient } from '../../../app.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { freePort } from '../../support/environment/redis-server.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'
import { loggedGateway, signIn } from './place.js'

const types = createRequire(import.meta.url).resolve('@modelcontextprotocol/sdk/types.js')
const EXAMPLE = join(types, '..', '..', 'esm', 'examples', 'server', 'simpleStreamableHttp.js')

t.test('the example server of the official SDK, which is strict about its resource, is signed in to', async t => {
  const [port, authPort] = [await freePort(), await freePort()]
  const example = spawn(process.execPath, [EXAMPLE, '--oauth', '--oauth-strict'], {
    env: { PATH: process.env['PATH'], MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) }
  })
  t.teardown(async () => {
    example.kill('SIGKILL')
    await once(example, 'close')
  })
  let output = ''
  for (const stream of [example.stdout, example.stderr]) {
    stream.on('data', (chunk: Buffer) => { output += String(chunk) })
  }
  await until(() => /MCP Streamable HTTP Server listening/.test(output) && /Authorization Server listening/.test(output))
  const options = {
    plugins: [],
    tools: false,
    data: await dataFolder(t),
    mcpServers: { example: { type: 'http', url: `http://localhost:${port}/mcp` } }
  }
  const { app, log } = await loggedGateway(t, options)
  await until(() => app.mcp.upstreams.status()[0]?.state === 'needs sign-in')
  t.match(await signIn(app, options), { issuer: `http://localhost:${authPort}/`, scopes: ['mcp:tools'], isRenewable: false })
  await upstreamsReady(app, ['example'])
  const client = await createClient(app)
  t.match(await client.request('tools/call', { name: 'example__greet', arguments: { name: 'Ada' } }), {
    content: [{ text: /Ada/ }]
  })
  t.notMatch(log.join(''), /Bearer/)
})
