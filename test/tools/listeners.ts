import { once } from 'node:events'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { modern, type Json } from '../support/recorder.js'
import { openSession } from '../support/http-session.js'
import { openStream } from '../support/event-reader.js'
import { Speaker } from '../support/speaker.js'

type Served = Awaited<ReturnType<typeof listening>>

/** What came over a transport, one message after the other. */
export interface Listener { message: () => Promise<Json> }

export type Transport = 'in-process' | 'WebSocket' | 'HTTP stream' | 'HTTP+SSE'

const MODERN = '2026-07-28'

/** Every transport of each revision on which a client gets notifications outside of calls. */
export const LISTENERS: Array<[version: string, transport: Transport]> = [
  ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', MODERN].flatMap(version =>
    (['in-process', 'WebSocket', 'HTTP stream'] as const).map((transport): [string, Transport] => [version, transport])
  ),
  ['2024-11-05', 'HTTP+SSE']
]

/** Connects a client that is notified of the resource, and of lists of resources. */
export async function listener (
  t: Test,
  version: string,
  transport: Transport,
  served: Served,
  uri: string
): Promise<Listener> {
  if (transport === 'in-process') return await inProcess(served, version, uri)
  if (transport === 'WebSocket') return await overWebSocket(t, served.url, version, uri)
  if (transport === 'HTTP+SSE') return await overSse(t, served.url, uri)
  return version === MODERN ? await modernStream(t, served.url, uri) : await sessionStream(t, served.url, version, uri)
}

/** The next notification of a method, whatever comes before it. */
export async function nextNotification (listener: Listener, method: string): Promise<Json> {
  for (;;) {
    const { method: came, params = {} } = await listener.message() as { method?: string, params?: Json }
    if (came === method) return params
  }
}

const filter = (uri: string) => ({ notifications: { resourceSubscriptions: [uri], resourcesListChanged: true } })
const hello = (protocolVersion: string) => ({
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
})
const subscribe = (version: string, uri: string) => version === MODERN
  ? { id: 1, method: 'subscriptions/listen', params: { ...filter(uri), ...modern() } }
  : { id: 1, method: 'resources/subscribe', params: { uri } }
const text = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
const isConfirmed = ({ id, method }: Json): boolean => id === 1 || method === 'notifications/subscriptions/acknowledged'

async function inProcess ({ app }: Served, version: string, uri: string): Promise<Listener> {
  const speaker = new Speaker(app, { version })
  if (version === MODERN) await speaker.listen(filter(uri).notifications)
  else await speaker.subscribe(uri)
  return {
    message: async () => {
      await speaker.until(() => speaker.notifications.length > 0)
      return speaker.notifications.shift() as unknown as Json
    }
  }
}

async function overWebSocket (t: Test, url: string, version: string, uri: string): Promise<Listener> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  const messages: Json[] = []
  socket.on('message', (data: Buffer) => { messages.push(JSON.parse(String(data)) as Json) })
  await once(socket, 'open')
  for (const message of [...(version === MODERN ? [] : [hello(version)]), subscribe(version, uri)]) {
    socket.send(text(message))
  }
  const message = async () => await within(60_000, async signal => {
    while (messages.length === 0) await once(socket, 'message', { signal })
    return messages.shift() as Json
  })
  while (!isConfirmed(await message()));
  return { message }
}

async function sessionStream (t: Test, url: string, version: string, uri: string): Promise<Listener> {
  const session = await openSession(url, version)
  await session.post(subscribe(version, uri))
  const stream = await session.listen()
  t.teardown(() => stream.drop())
  return stream
}

async function modernStream (t: Test, url: string, uri: string): Promise<Listener> {
  const headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': MODERN,
    'mcp-method': 'subscriptions/listen'
  }
  const stream = await openStream(`${url}/mcp`, { method: 'POST', headers, body: text(subscribe(MODERN, uri)) })
  t.teardown(() => stream.drop())
  if (!isConfirmed(await stream.message())) throw new Error('the first message is no confirmation')
  return stream
}

async function overSse (t: Test, url: string, uri: string): Promise<Listener> {
  const stream = await openStream(`${url}/sse`)
  t.teardown(() => stream.drop())
  const { data = '' } = await stream.event() ?? {}
  for (const message of [hello('2024-11-05'), subscribe('2024-11-05', uri)]) {
    await fetch(new URL(data, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text(message)
    })
  }
  while (!isConfirmed(await stream.message()));
  return stream
}
