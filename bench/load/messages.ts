export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'
export type Era = typeof MODERN | typeof LEGACY

/** A request that is repeated, and how a right answer looks. */
export interface Ask {
  method: string
  params: Record<string, unknown>
  /** Throws when a result is not the one that was to come. */
  check: (result: Record<string, unknown>) => void
}

export interface Message { jsonrpc: '2.0', id?: number, method: string, params?: Record<string, unknown> }

const CLIENT = { name: 'bench', version: '1.0.0' }
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {}
}

export function message (era: Era, id: number, method: string, params: Record<string, unknown> = {}): Message {
  return { jsonrpc: '2.0', id, method, params: era === MODERN ? { ...params, _meta: META } : params }
}

export const INITIALIZE = message(LEGACY, 1, 'initialize', {
  protocolVersion: LEGACY,
  capabilities: {},
  clientInfo: CLIENT
})
export const INITIALIZED: Message = { jsonrpc: '2.0', method: 'notifications/initialized' }

/** The first thing that a client says. */
export const opening = (era: Era): Message => era === MODERN ? message(MODERN, 1, 'server/discover') : INITIALIZE

export function echo (bytes: number, name = 'echo'): Ask {
  const text = 'x'.repeat(bytes)
  return {
    method: 'tools/call',
    params: { name, arguments: { text } },
    check: ({ content, isError }) => {
      const [block] = content as Array<{ text: string }>
      if (isError === true || block?.text !== text) {
        throw new Error(`echo said ${JSON.stringify(content).slice(0, 200)}`)
      }
    }
  }
}

/** An echo whose reply is a stream: so much progress is reported before it. */
export function progress (events: number): Ask {
  const { params, ...rest } = echo(32, 'bench_stream')
  return {
    ...rest,
    params: { ...params, arguments: { ...(params['arguments'] as object), events }, _meta: { progressToken: 'bench' } }
  }
}

export function listTools (atLeast: number): Ask {
  return {
    method: 'tools/list',
    params: {},
    check: ({ tools }) => {
      const { length } = tools as unknown[]
      if (length < atLeast) throw new Error(`there are ${length} tools on a page, and not ${atLeast}`)
    }
  }
}

/** The result in an answer to that request. Throws when there is none. */
export function resultOf (text: string, ids: number[]): Record<string, unknown> {
  const { id, result, error } = JSON.parse(text) as {
    id?: number
    result?: Record<string, unknown>
    error?: { message: string }
  }
  if (error !== undefined || result === undefined) throw new Error(`refused: ${text.slice(0, 300)}`)
  if (!ids.includes(id as number)) throw new Error(`the answer is for ${id}, which was not asked`)
  return result
}
