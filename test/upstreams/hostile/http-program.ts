// Servers on HTTP that are well-behaved except for one thing, which their path names; tells its port to the process
// that started it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { httpAttacks } from './http-attacks.js'

type Json = Record<string, unknown>

const TOOLS = ['fine', 'attack'].map(name => ({ name, inputSchema: { type: 'object' } }))

const server = createServer((request, reply) => {
  void serve(request, reply)
}).listen(0, '127.0.0.1', () => {
  process.send?.(server.address())
})
// The gateway cuts what it does not want to read.
server.on('connection', socket => socket.on('error', () => {}))
process.on('disconnect', () => process.exit())

async function serve (request: IncomingMessage, reply: ServerResponse): Promise<void> {
  if (request.method !== 'POST') { reply.writeHead(405).end(); return }
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { id, method, params = {} } = JSON.parse(body) as { id?: unknown, method: string, params?: Json }
  if (id === undefined) { reply.writeHead(202).end(); return }
  const answer = JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(method, params) })
  const attack =
    method === 'tools/call' && params.name === 'attack'
      ? httpAttacks[decodeURIComponent(String(request.url).slice(1))]
      : undefined
  if (attack !== undefined) await attack(reply, answer, request)
  else reply.writeHead(200, { 'content-type': 'application/json' }).end(answer)
}

function answerTo (method: string, params: Json): Json {
  if (method === 'initialize') {
    return {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'hostile', version: '1' }
      }
    }
  }
  if (method === 'tools/list') return { result: { tools: TOOLS } }
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'done' }] } }
  return { error: { code: -32601, message: 'Method not found' } }
}
