import { on, once } from 'node:events'
import { WebSocket } from 'ws'
import { within } from '../support/wait.js'

type Headers = Record<string, string>

export const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
})

/** A call of a tool, with the id 1. */
export const callOf = (name: string, args: object = {}): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: { progressToken: 1 } }
  })

export async function post (url: string, body: string, headers: Headers = {}): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body
  })
}

export async function overHttp (url: string, body: string, headers: Headers = {}): Promise<unknown> {
  return await (await post(url, body, headers)).json()
}

/** Opens a session, makes a call in it, and gives the events of the reply. */
export async function overEventStream (url: string, body: string, headers: Headers = {}): Promise<unknown[]> {
  const session = (await post(url, INITIALIZE, headers)).headers.get('mcp-session-id') ?? ''
  const reply = await post(url, body, { ...headers, 'mcp-session-id': session })
  return [...(await reply.text()).matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string) as unknown)
}

/** Sends messages one after the other, and gives the answer to the last one, without notifications. */
export async function overWebSocket (url: string, messages: string[], headers: Headers = {}): Promise<string> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers })
  return await within(60_000, async signal => {
    const received = on(socket, 'message', { signal })
    await once(socket, 'open', { signal })
    let last = ''
    for (const message of messages) {
      socket.send(message)
      do last = String(((await received.next()).value as [Buffer])[0])
      while (last.includes('"method"'))
    }
    socket.close()
    return last
  })
}

/** The status of an upgrade that is refused. */
export async function upgradeStatus (url: string, headers: Headers): Promise<number> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers })
  socket.on('error', () => {})
  return await within(60_000, async signal => {
    const [, response] = await once(socket, 'unexpected-response', { signal }) as [unknown, { statusCode: number }]
    socket.terminate()
    return response.statusCode
  })
}
