import { MODERN } from './messages.js'
import { exchange, request, type Bytes, type Head, type Reply } from './http-client.js'

/** The header lines every good POST carries. */
export const postHead = (port: number, more: Head = []): Head => [
  ['Host', `127.0.0.1:${port}`],
  ['Content-Type', 'application/json'],
  ['Accept', 'application/json, text/event-stream'],
  ...more
]

export async function post (port: number, target: string, body: Bytes, more: Head = []): Promise<Reply> {
  return await exchange(port, request('POST', target, postHead(port, more), body))
}

/** A POST of the stateless revision, with the headers its body asks for. */
export async function postModern (port: number, body: Bytes, more: Head = []): Promise<Reply> {
  return await post(port, '/mcp', body, [...mirroredHead(body), ...more])
}

/** Opens a session on `/mcp` and gives its id. */
export async function openSession (port: number, initialize: string, more: Head = []): Promise<string> {
  const { status, headers, body } = await post(port, '/mcp', initialize, more)
  const id = headers.get('mcp-session-id')
  if (status !== 200 || id === undefined) throw new Error(`no session: ${status} ${body}`)
  return id
}

export async function endSession (port: number, id: string, more: Head = []): Promise<Reply> {
  return await exchange(port, request('DELETE', '/mcp', [['Host', 'localhost'], ['Mcp-Session-Id', id], ...more]))
}

/** The headers that a client of the stateless revision has to send with this body. */
export function mirroredHead (body: Bytes): Head {
  const { method, params } = parsed(body)
  const name = params?.name ?? params?.uri ?? params?.taskId
  return [
    ['MCP-Protocol-Version', MODERN],
    ...(typeof method === 'string' ? [['Mcp-Method', method] as [string, string]] : []),
    ...(typeof name === 'string' ? [['Mcp-Name', encodeName(name)] as [string, string]] : [])
  ]
}

function parsed (body: Bytes): { method?: unknown, params?: Record<string, unknown> | null } {
  try {
    return JSON.parse(Buffer.from(body).toString()) as object ?? {}
  } catch {
    return {}
  }
}

const encodeName = (name: string): string =>
  /^[!-~]*$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`
