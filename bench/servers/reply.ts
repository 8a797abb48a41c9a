/** A request to a bare server. */
export interface Asked {
  id?: number
  method: string
  params?: { name?: string, arguments?: { text?: string }, _meta?: Record<string, unknown>, protocolVersion?: string }
}

const SERVER = { name: 'bare', version: '1.0.0' }
const META = { 'io.modelcontextprotocol/serverInfo': SERVER }

const legacyOnly = process.env['BENCH_UPSTREAM_ERA'] === 'legacy'
const count = Number(process.env['BENCH_UPSTREAM_TOOLS'] ?? 1)
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const TOOLS = ['echo', ...Array.from({ length: count - 1 }, (_, index) => `lookup_${index}`)].map(name => ({
  name,
  description: `Behaves like ${name}`,
  inputSchema
}))

/** The least that a right answer takes: nothing is checked, nothing is remembered. `undefined` where none is wanted. */
export function replyTo ({ id, method, params }: Asked): object | undefined {
  if (id === undefined) return undefined
  if (method === 'initialize') {
    return {
      jsonrpc: '2.0',
      id,
      result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER }
    }
  }
  if (method === 'server/discover' && legacyOnly) {
    return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
  }
  if (method === 'server/discover') {
    return {
      jsonrpc: '2.0',
      id,
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 60_000,
        cacheScope: 'public',
        _meta: META
      }
    }
  }
  if (method === 'tools/list') {
    return {
      jsonrpc: '2.0',
      id,
      result: {
        tools: TOOLS,
        ...(params?._meta === undefined
          ? {}
          : { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public', _meta: META })
      }
    }
  }
  const content = [{ type: 'text', text: params?.arguments?.text }]
  return {
    jsonrpc: '2.0',
    id,
    result:
      params?._meta === undefined
        ? { content, isError: false }
        : { content, isError: false, resultType: 'complete', _meta: META }
  }
}
