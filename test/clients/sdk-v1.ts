import { EventEmitter } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js'
import type { Test } from 'tap'
import { ANSWERS, CAPABILITIES, INFO, toolsWatcher, type Official, type ToolResult, type Verbs } from './official.js'

/** Connects the first generation of the official client until the test ends. */
export async function connectV1 (t: Test, transport: Transport): Promise<Official & { client: Client }> {
  const events = new EventEmitter()
  const complaints: Error[] = []
  const client = new Client(INFO, { capabilities: CAPABILITIES, listChanged: toolsWatcher(events) })
  t.teardown(async () => await client.close())
  client.onerror = error => { complaints.push(error) }
  client.setRequestHandler(ElicitRequestSchema, ANSWERS.elicitation)
  client.setRequestHandler(CreateMessageRequestSchema, ANSWERS.sampling)
  client.setRequestHandler(ListRootsRequestSchema, ANSWERS.roots)
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => { events.emit('log', params) })
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { events.emit('updated', params) })
  const agreed = versionOf(transport)
  await client.connect(transport)
  return {
    client,
    verbs: client as unknown as Verbs,
    version: agreed(),
    events,
    complaints,
    call: async (params, options) => await client.callTool(params, CallToolResultSchema, options) as ToolResult,
    listenToLogs: async level => { await client.setLoggingLevel(level); return {} },
    subscribe: async uri => { await client.subscribeResource({ uri }) },
    unsubscribe: async uri => { await client.unsubscribeResource({ uri }) }
  }
}

// This client passes the agreed version to its transport only.
function versionOf (transport: Transport): () => string | undefined {
  const setVersion = transport.setProtocolVersion?.bind(transport)
  let version: string | undefined
  transport.setProtocolVersion = agreed => { version = agreed; setVersion?.(agreed) }
  return () => version
}
