/** What the bare servers are asked. */
export interface Asked { id?: number, method: string, params?: { name?: string, arguments?: { text?: string }, _meta?: Record<string, unknown>, protocolVersion?: string } }

const SERVER = { name: 'bare', version: '1.0.0' }
const META = { 'io.modelcontextprotocol/serverInfo': SERVER }

/** The least that a right answer takes: nothing is checked, nothing is remembered. `undefined` where none is wanted. */
export function replyTo ({ id, method, params }: Asked): object | undefined {
  if (id === undefined) return undefined
  if (method === 'initialize') return { jsonrpc: '2.0', id, result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER } }
  if (method === 'server/discover') return { jsonrpc: '2.0', id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 60_000, cacheScope: 'public', _meta: META } }
  const content = [{ type: 'text', text: params?.arguments?.text }]
  return { jsonrpc: '2.0', id, result: params?._meta === undefined ? { content, isError: false } : { content, isError: false, resultType: 'complete', _meta: META } }
}
