import { mirroredHead, postHead } from '../support/http-requests.js'
import { call, initialize, modernMeta, NEWEST, type Era } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { frame, OPCODE, upgradeHead } from '../support/websocket-client.js'
import type { Gateway } from './gateway.js'
import { Line } from './line.js'

/** What becomes of the call when its client vanishes. */
export type Fate = 'no call' | 'aborted' | 'finished'

/** A place in the life of a connection at which its client can vanish. */
export interface Point { name: string, fate: Fate, reach: (line: Line, visit: Visit) => Promise<void> }

/** One client, with a session if it wants one. */
export interface Visit { gateway: Gateway, key: string, session: string, workMs: number }

const LARGE = 3_000_000
const HALF = 0.5

interface Working { progress?: boolean, answer?: number, ms?: number }

const work = ({ key, workMs }: Visit, era: Era, { progress = false, answer = 0, ms = workMs }: Working = {}): string =>
  call('tools/call', {
    name: 'chaos_work',
    arguments: { key, ms, progress, answer },
    _meta: { ...(era === 'modern' ? modernMeta() : {}), ...(progress ? { progressToken: 'p' } : {}) }
  })(era)

const ask = (key: string): string => call('tools/call', { name: 'chaos_ask', arguments: { key } })('legacy')

/** The three ways to post, and what becomes of their calls. */
const POSTS: Array<[name: string, fate: Fate, post: (visit: Visit, options?: Working) => Buffer]> = [
  [
    'POST /mcp in a session',
    'finished',
    (visit, options) =>
      post(visit.gateway.port, '/mcp', work(visit, 'legacy', options), [['Mcp-Session-Id', visit.session]])
  ],
  [
    'POST /mcp, stateless',
    'aborted',
    (visit, options) => {
      const body = work(visit, 'modern', options)
      return post(visit.gateway.port, '/mcp', body, mirroredHead(body))
    }
  ],
  ['POST /message', 'aborted', (visit, options) => post(visit.gateway.port, '/message', work(visit, 'legacy', options))]
]

export const points: Point[] = [
  { name: 'a connection, before anything is said', fate: 'no call', reach: async () => {} },
  {
    name: 'half a request line',
    fate: 'no call',
    reach: async line => {
      line.send('POST /mc')
    }
  },
  ...POSTS.flatMap(([name, fate, bytes]): Point[] => [
    {
      name: `${name}: the headers`,
      fate: 'no call',
      reach: async (line, visit) => {
        const all = bytes(visit)
        line.send(all.subarray(0, all.indexOf('\r\n\r\n') + 4))
      }
    },
    {
      name: `${name}: half the body`,
      fate: 'no call',
      reach: async (line, visit) => {
        const all = bytes(visit)
        const head = all.indexOf('\r\n\r\n') + 4
        line.send(all.subarray(0, head + (all.length - head) * HALF))
      }
    },
    {
      name: `${name}: the call is under way`,
      fate,
      reach: async (line, visit) => {
        line.send(bytes(visit))
        await begun(visit)
      }
    },
    ...(name === 'POST /message'
      ? []
      : [
          {
            name: `${name}: the reply has become a stream`,
            fate,
            reach: async (line: Line, visit: Visit) => {
              line.send(bytes(visit, { progress: true }))
              await line.until('"begun"')
            }
          }
        ]),
    {
      name: `${name}: in the middle of a large answer`,
      fate: 'finished',
      reach: async (line, visit) => {
        line.send(bytes(visit, { answer: LARGE, ms: 0 }))
        await line.until('xxxxxxxx')
      }
    }
  ]),
  {
    name: 'GET /mcp: the stream is open',
    fate: 'no call',
    reach: async (line, { gateway: { port }, session }) => {
      line.send(request('GET', '/mcp', [...host(port), ['Accept', 'text/event-stream'], ['Mcp-Session-Id', session]]))
      await line.until(': open')
    }
  },
  {
    name: 'subscriptions/listen: acknowledged',
    fate: 'no call',
    reach: async (line, { gateway: { port } }) => {
      const body = listening
      line.send(post(port, '/mcp', body, mirroredHead(body)))
      await line.until('acknowledged')
    }
  },
  { name: 'GET /sse: a call is under way', fate: 'aborted', reach: overSse },
  {
    name: 'WebSocket: half the upgrade',
    fate: 'no call',
    reach: async (line, { gateway: { port } }) => {
      line.send(request('GET', '/mcp', upgradeHead(port)).subarray(0, 60))
    }
  },
  { name: 'WebSocket: the upgrade', fate: 'no call', reach: upgraded },
  {
    name: 'WebSocket: half a frame',
    fate: 'no call',
    reach: async (line, visit) => {
      await performHandshake(line, visit)
      const bytes = text(work(visit, 'legacy'))
      line.send(bytes.subarray(0, bytes.length * HALF))
    }
  },
  {
    name: 'WebSocket: a call is under way',
    fate: 'aborted',
    reach: async (line, visit) => {
      await performHandshake(line, visit)
      line.send(text(work(visit, 'legacy')))
      await begun(visit)
    }
  },
  {
    name: 'WebSocket: a call has told of its progress',
    fate: 'aborted',
    reach: async (line, visit) => {
      await performHandshake(line, visit)
      line.send(text(work(visit, 'legacy', { progress: true })))
      await line.until('"begun"')
    }
  },
  {
    name: 'WebSocket, stateless: a call is under way',
    fate: 'aborted',
    reach: async (line, visit) => {
      await upgraded(line, visit)
      line.send(text(work(visit, 'modern')))
      await begun(visit)
    }
  },
  {
    name: 'WebSocket: a question is open',
    fate: 'aborted',
    reach: async (line, visit) => {
      await performHandshake(line, visit)
      line.send(text(ask(visit.key)))
      await line.until('elicitation/create')
    }
  },
  {
    name: 'WebSocket: in the middle of a large answer',
    fate: 'finished',
    reach: async (line, visit) => {
      await performHandshake(line, visit)
      line.send(text(work(visit, 'legacy', { answer: LARGE, ms: 0 })))
      await line.until('xxxxxxxx')
    }
  }
]

const listening = call('subscriptions/listen', { notifications: { toolsListChanged: true } })('modern')

const host = (port: number): Head => [['Host', `127.0.0.1:${port}`]]
const text = (payload: string): Buffer => frame({ opcode: OPCODE.text, payload })

function post (port: number, target: string, body: string, more: Head = []): Buffer {
  return request('POST', target, postHead(port, more), body)
}

async function upgraded (line: Line, { gateway: { port } }: Visit): Promise<void> {
  line.send(request('GET', '/mcp', upgradeHead(port)))
  await line.until('\r\n\r\n')
}

async function performHandshake (line: Line, visit: Visit): Promise<void> {
  await upgraded(line, visit)
  line.send(text(initialize(NEWEST, { elicitation: {} })))
  await line.until('protocolVersion')
}

async function overSse (line: Line, visit: Visit): Promise<void> {
  const { port } = visit.gateway
  line.send(request('GET', '/sse', host(port)))
  await line.until('sessionId=')
  const id = (await line.until('\n')).trim()
  const other = await Line.open(port)
  for (const body of [initialize('2024-11-05'), work(visit, 'legacy')]) {
    other.send(post(port, `/message?sessionId=${id}`, body))
    await other.until('Accepted')
  }
  other.socket.destroy()
  await begun(visit)
}

async function begun ({ gateway, key }: Visit): Promise<void> {
  const { calls } = await gateway.until(({ calls }) => calls[key] !== undefined, 30_000, key)
  if (calls[key] === undefined) throw new Error(`the call ${key} did not begin`)
}
