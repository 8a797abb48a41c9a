import { spawn } from 'node:child_process'
import fastify, { type FastifyReply } from 'fastify'
import { Lines, Renamed } from './lines.js'

// The limit for a relay from HTTP to stdio: a Fastify route that renames ids, and a splitter on the output of the
// server behind it.
const [port, ...command] = process.argv.slice(2)
const server = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] })
const pending = new Renamed<{ id: number | string, reply: FastifyReply }>()
const app = fastify({ bodyLimit: 4 * 1024 * 1024 })

app.post<{ Body: { id?: number | string, method: string } }>('/mcp', ({ body }, reply) => {
  const { id } = body
  server.stdin.write(`${JSON.stringify(id === undefined ? body : { ...body, id: pending.add({ id, reply }) })}\n`)
  if (body.method === 'initialize') reply.header('mcp-session-id', 'bare')
  if (id === undefined) reply.code(202).send()
})

const responses = new Lines(line => {
  const message = JSON.parse(line) as { id: number | string }
  const { id, reply } = pending.take(Number(message.id)) ?? {}
  if (id !== undefined) {
    void reply?.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify({ ...message, id }))
  }
  return undefined
}, () => {})

server.stdout.on('data', (chunk: Buffer) => responses.push(chunk))
await app.listen({ port: Number(port), host: '127.0.0.1' })
