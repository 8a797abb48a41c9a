// A server on standard input and output that is well-behaved except for one thing, which its argument names.
import { createInterface } from 'node:readline'
import { attacks, type Server } from './attacks.js'

type Json = Record<string, unknown>

const attack = attacks[String(process.argv[2])] ?? {}
const counts: Record<string, number> = {}

const server: Server = {
  counts,
  write: text => process.stdout.write(text),
  send: message => { process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`) }
}

const TOOLS = [{ name: 'fine', inputSchema: { type: 'object' } }, { name: 'attack', inputSchema: { type: 'object' } }]

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method = '', params = {} } = JSON.parse(line) as { id?: unknown, method?: string, params?: Json }
  counts[method] = (counts[method] ?? 0) + 1
  if (id !== undefined && method !== '') void answer(id, method, params)
})

async function answer (id: unknown, method: string, params: Json): Promise<void> {
  const result = await resultOf(method, params, id)
  if (result !== undefined) server.send({ id, ...result })
}

async function resultOf (method: string, params: Json, id: unknown): Promise<Json | undefined> {
  if (method === 'initialize') {
    return {
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'hostile', version: '1' }
      }
    }
  }
  if (method === 'tools/list') return { result: attack.list?.(params.cursor) ?? { tools: TOOLS } }
  if (method !== 'tools/call') return { error: { code: -32601, message: 'Method not found' } }
  if (params.name === 'attack') return await attack.call?.(server, id, (params._meta ?? {}) as Json)
  return { result: { content: [{ type: 'text', text: JSON.stringify(counts) }] } }
}

attack.start?.(server)
