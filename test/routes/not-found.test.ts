import t from 'tap'
import { gateway } from '../support/gateway.js'

t.test('a path that is not served names the paths that are', async t => {
  const app = await gateway(t, { console: false })
  for (const url of ['/', '/mpc', '/favicon.ico']) {
    const { statusCode, body } = await app.inject({ url, headers: { accept: 'text/html' } })
    t.equal(statusCode, 404)
    t.match(body, `There is nothing at GET ${url}; MCP clients go to /mcp, and /health`)
  }
})
