import fastify from 'fastify'
import { Pool } from 'undici'

// The limit for a relay from HTTP to HTTP: a Fastify route that sends each body on with undici, and the reply back as
// it is.
const [port, upstream] = process.argv.slice(2)
const pool = new Pool(`http://127.0.0.1:${upstream}`, { connections: 32 })
const app = fastify({ bodyLimit: 4 * 1024 * 1024 })
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

app.post<{ Body: Buffer }>('/mcp', async ({ body, headers }, reply) => {
  const { host, connection, 'content-length': length, ...rest } = headers
  const answer = await pool.request({ method: 'POST', path: '/mcp', headers: rest as Record<string, string>, body })
  reply.code(answer.statusCode)
  for (const name of ['content-type', 'mcp-session-id']) {
    if (answer.headers[name] !== undefined) reply.header(name, answer.headers[name])
  }
  return Buffer.from(await answer.body.arrayBuffer())
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
