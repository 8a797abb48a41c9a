import { EventEmitter } from 'node:events'
import {
  Client,
  LOG_LEVEL_META_KEY,
  type ClientOptions,
  type McpSubscription,
  type Transport
} from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { ANSWERS, CAPABILITIES, INFO, toolsWatcher, type Official, type ToolResult, type Verbs } from './official.js'

/** Connects the second generation of the official client until the test ends. */
export async function connectV2 (
  t: Test,
  transport: Transport,
  options: ClientOptions = {}
): Promise<Official & { client: Client }> {
  const events = new EventEmitter()
  const complaints: Error[] = []
  const client = new Client(INFO, { capabilities: CAPABILITIES, listChanged: toolsWatcher(events), ...options })
  t.teardown(async () => await client.close())
  client.onerror = error => {
    complaints.push(error)
  }
  client.setRequestHandler('elicitation/create', ANSWERS.elicitation)
  client.setRequestHandler('sampling/createMessage', ANSWERS.sampling)
  client.setRequestHandler('roots/list', ANSWERS.roots)
  client.setNotificationHandler('notifications/message', ({ params }) => {
    events.emit('log', params)
  })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    events.emit('updated', params)
  })
  await client.connect(transport)
  return {
    client,
    verbs: client as unknown as Verbs,
    version: client.getNegotiatedProtocolVersion(),
    events,
    complaints,
    call: async (params, options) => (await client.callTool(params, options)) as ToolResult,
    ...(client.getProtocolEra() === 'modern' ? statelessWays(client) : statefulWays(client))
  }
}

type Ways = Pick<Official, 'listenToLogs' | 'subscribe' | 'unsubscribe'>

function statefulWays (client: Client): Ways {
  return {
    listenToLogs: async level => { await client.setLoggingLevel(level); return {} },
    subscribe: async uri => { await client.subscribeResource({ uri }) },
    unsubscribe: async uri => { await client.unsubscribeResource({ uri }) }
  }
}

function statelessWays (client: Client): Ways {
  let subscription: McpSubscription | undefined
  return {
    listenToLogs: async level => ({ _meta: { [LOG_LEVEL_META_KEY]: level } }),
    subscribe: async uri => { subscription = await client.listen({ resourceSubscriptions: [uri] }) },
    unsubscribe: async () => { await subscription?.close() }
  }
}
