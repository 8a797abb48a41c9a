import t from 'tap'
import { gateway } from '../support/gateway.js'
import { apiKeys } from '../support/keys.js'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

t.test('a browser at / is led to the console, with keys, too', async t => {
  for (const options of [{}, { apiKeys }]) {
    const app = await gateway(t, { console: true, ...options })
    const { statusCode, headers } = await app.inject({ url: '/', headers: HTML })
    t.match([statusCode, headers.location], [302, 'console/'])
  }
  const prefixed = await gateway(t, { console: true, prefix: '/ai' })
  t.equal((await prefixed.inject({ url: '/', headers: HTML })).headers.location, 'ai/console/')
})

t.test('other clients at / get an error that names the console', async t => {
  const app = await gateway(t, { console: true })
  for (const url of ['/', '/mpc']) {
    const { statusCode, body } = await app.inject({ url })
    t.equal(statusCode, 404)
    t.match(body, 'MCP clients go to /mcp, people to /console, and /health')
  }
})

t.test('a route of a plugin at / stays the plugin\'s', async t => {
  const app = await gateway(t, {
    console: true,
    plugins: [
      async (app: { get: (url: string, handler: () => Promise<string>) => unknown }) => {
        app.get('/', async () => 'mine')
      }
    ]
  })
  t.equal((await app.inject({ url: '/', headers: HTML })).body, 'mine')
})
