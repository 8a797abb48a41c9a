import { until } from '../support/wait.js'
import { performHandshake } from '../support/transports.js'
import { openEvents } from '../support/event-reader.js'
import { endSession, mirroredHead, openSession, post } from '../support/http-requests.js'
import { call, initialize, NEWEST } from '../support/messages.js'
import type { Server } from '../support/server.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from '../support/connections.js'
import type { Json } from './speakers.js'

/** A client that is subscribed to some resources and to changes of lists. */
export interface Ear {
  /** The methods and URIs of the notifications received so far. */
  received: () => string[]
  close: () => Promise<void>
}

type Opener = (server: Server, uris: string[]) => Promise<Ear>

/** Every way to listen. */
export const ears: Record<string, Opener> = {
  session: async ({ port, head = [] }, uris) => {
    const id = await openSession(port, initialize(), head)
    const messages: Json[] = []
    const stream = await openEvents(port, '/mcp', { 'mcp-session-id': id, ...Object.fromEntries(head) }, data => {
      if (data !== '') messages.push(JSON.parse(data) as Json)
    })
    for (const uri of uris) {
      await post(port, '/mcp', call('resources/subscribe', { uri })('legacy'), [['Mcp-Session-Id', id], ...head])
    }
    return {
      received: () => inWords(messages),
      close: async () => {
        await stream.close()
        await endSession(port, id, head)
      }
    }
  },
  stateless: async ({ port, head = [] }, uris) => {
    const body = listen(uris)
    const messages: Json[] = []
    const stream = await openEvents(
      port,
      '/mcp',
      Object.fromEntries([...mirroredHead(body), ...head]),
      data => messages.push(JSON.parse(data) as Json),
      body
    )
    await until(() => messages.length > 0, 'an acknowledgement')
    return { received: () => inWords(messages), close: stream.close }
  },
  sse: async (server, uris) =>
    await subscribed(await performHandshake(await sseConnection(server), '2024-11-05'), uris),
  websocket: async (server, uris) =>
    await subscribed(await performHandshake(await socketConnection(server), NEWEST), uris),
  stdio: async (server, uris) => await subscribed(await performHandshake(await stdioConnection(server), NEWEST), uris),
  'websocket 2026': async (server, uris) => await listening(await socketConnection(server), uris),
  'stdio 2026': async (server, uris) => await listening(await stdioConnection(server), uris)
}

async function subscribed (connection: Connection, uris: string[]): Promise<Ear> {
  for (const uri of uris) {
    await connection.write(call('resources/subscribe', { uri })('legacy'))
    await connection.inbox.next()
  }
  return over(connection)
}

async function listening (connection: Connection, uris: string[]): Promise<Ear> {
  await connection.write(listen(uris))
  await until(() => connection.inbox.size > 0, 'an acknowledgement')
  return over(connection)
}

function over ({ inbox, close }: Connection): Ear {
  const messages: Json[] = []
  return {
    received: () => {
      messages.push(...inbox.take() as Json[])
      return inWords(messages)
    },
    close
  }
}

const listen = (resourceSubscriptions: string[]): string =>
  call('subscriptions/listen', {
    notifications: { resourcesListChanged: true, toolsListChanged: true, resourceSubscriptions }
  })('modern')

/** An acknowledgement names the resources that were granted, so it counts as well. */
function inWords (messages: Json[]): string[] {
  return messages.filter(({ method }) => method !== undefined).map(({ method, params }) => {
    const { uri, notifications } = (params ?? {}) as {
      uri?: string
      notifications?: { resourceSubscriptions?: string[] }
    }
    return [String(method).replace('notifications/', ''), uri ?? notifications?.resourceSubscriptions?.join(' ')]
      .filter(Boolean)
      .join(' ')
  })
}
