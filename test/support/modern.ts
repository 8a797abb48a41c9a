import type { FastifyInstance } from 'fastify'
import { messagesOf } from './event-reader.js'

export type Json = Record<string, unknown>

/** The reply to a client of 2026-07-28: the status, the answer, and the messages before it on the stream. */
export interface Answer {
  status: number
  result: Json
  error: { code: number, message: string, data: Json }
  before: Json[]
}

export interface Round {
  capabilities?: Json
  inputResponses?: Json
  requestState?: unknown
  meta?: Json
  headers?: Record<string, string>
}

/** Calls a tool as a client of 2026-07-28 does over HTTP. */
export async function callTool (
  app: FastifyInstance,
  name: string,
  args: Json = {},
  { meta, headers, capabilities = { elicitation: {}, sampling: {}, roots: {} }, ...round }: Round = {}
): Promise<Answer> {
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, ...round, _meta: { ...modernMeta(capabilities), ...meta } }
    }
  })
  const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
  const messages = isStream ? messagesOf(response.body) : [JSON.parse(response.body) as Json]
  return { status: response.statusCode, ...messages.at(-1), before: messages.slice(0, -1) } as unknown as Answer
}

export const modernMeta = (capabilities: Json = {}): Json => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' }
})
