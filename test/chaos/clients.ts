import { mirroredHead, openSession, post, postHead } from '../support/http-requests.js'
import { call, initialize } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { frame, OPCODE, upgradeHead } from '../support/websocket-client.js'
import { Line } from './line.js'

/** Opens a connection that stays; where there was a session before, it goes on with it. */
export type Opener = (client: Standing) => Promise<Line>

/** One who wants to stay connected. */
export interface Standing { port: number, from?: string, session?: string, lastEventId?: string }

const STREAM: [string, string] = ['Accept', 'text/event-stream']
const listening = call('subscriptions/listen', { notifications: { toolsListChanged: true } })('modern')

/** Every kind of connection that stays. */
export const openers: Record<'WebSocket' | 'stream of a session' | 'subscriptions/listen' | 'HTTP+SSE', Opener> = {
  WebSocket: async ({ port, from }) => {
    const line = await Line.open(port, from)
    line.send(request('GET', '/mcp', upgradeHead(port)))
    await line.until('\r\n\r\n')
    line.send(frame({ opcode: OPCODE.text, payload: initialize() }))
    await line.until('protocolVersion')
    return line
  },
  'stream of a session': async client => {
    client.session ??= await openSession(client.port, initialize())
    const after: Head = client.lastEventId === undefined ? [] : [['Last-Event-ID', client.lastEventId]]
    const line = await opened(
      client,
      request('GET', '/mcp', [['Host', 'localhost'], STREAM, ['Mcp-Session-Id', client.session], ...after]),
      '\nid: '
    )
    client.lastEventId = (await line.until('\n')).trim()
    return line
  },
  'subscriptions/listen': async client =>
    await opened(
      client,
      request('POST', '/mcp', postHead(client.port, mirroredHead(listening)), listening),
      'acknowledged'
    ),
  'HTTP+SSE': async client => {
    const line = await opened(client, request('GET', '/sse', [['Host', 'localhost'], STREAM]), 'sessionId=')
    const id = (await line.until('\n')).trim()
    const reply = await post(client.port, `/message?sessionId=${id}`, initialize('2024-11-05'))
    if (reply.status !== 202) throw new Error(`${reply.status} ${reply.body}`)
    await line.until('protocolVersion')
    return line
  }
}

/** Throws what came instead. */
async function opened ({ port, from }: Standing, bytes: Buffer, sign: string): Promise<Line> {
  const line = await Line.open(port, from)
  line.send(bytes)
  const head = await line.until('\r\n\r\n')
  if (!head.startsWith('HTTP/1.1 200')) {
    line.socket.destroy()
    throw new Error(head.split('\r\n')[0])
  }
  await line.until(sign)
  return line
}
