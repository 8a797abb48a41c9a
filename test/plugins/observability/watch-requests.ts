import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

const ACCEPT = { accept: 'application/json, text/event-stream' }

/** Posts one message. */
export async function post (
  app: FastifyInstance,
  message: object,
  headers: Record<string, string> = {}
): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...ACCEPT, ...headers },
    payload: { jsonrpc: '2.0', ...message }
  })
}

/** Ends the session that a reply has opened. */
export async function endSessionOf (app: FastifyInstance, { headers }: LightMyRequestResponse): Promise<void> {
  await app.inject({ method: 'DELETE', url: '/mcp', headers: { 'mcp-session-id': String(headers['mcp-session-id']) } })
}
