import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'

/** What reached a client, in the order in which it came. */
export interface Received { progress: number[], messages: number[], listChanges: number }

/** An official client that is in a long call and listens beside it. */
export interface Talker {
  readonly received: Received
  /** Settles when another message was received. */
  more: () => Promise<void>
  /** Calls a tool that sends numbers until it is stopped; gives its answer. */
  sendNumbers: (key: string, timeout: number) => Promise<unknown>
  close: () => Promise<void>
}

const INFO = { name: 'chaos', version: '1' }

export const generations: Record<string, (url: string) => Promise<Talker>> = {
  '@modelcontextprotocol/sdk 1': async url => {
    const transport = new TransportV1(new URL('/mcp', url)) as Transport
    const talker = listen(transport)
    const client = new ClientV1(INFO)
    await client.connect(transport)
    return {
      ...talker,
      sendNumbers: async (key, timeout) =>
        await client.callTool(untilStopped(key), CallToolResultSchema, { timeout, onprogress: () => {} }),
      close: async () => await client.close()
    }
  },
  '@modelcontextprotocol/client 2': async url => {
    const transport = new TransportV2(new URL('/mcp', url))
    const talker = listen(transport)
    const client = new ClientV2(INFO)
    await client.connect(transport)
    return {
      ...talker,
      sendNumbers: async (key, timeout) => await client.callTool(untilStopped(key), { timeout, onprogress: () => {} }),
      close: async () => await client.close()
    }
  }
}

const untilStopped = (key: string) => ({ name: 'chaos_until', arguments: { key } })

interface Notification { method?: string, params?: { progress?: number, data?: unknown } }

// Both clients drop progress that comes together with the answer, so it is counted where their transports hand it over.
function listen (transport: { onmessage?: ((message: never) => void) | undefined }): Pick<Talker, 'received' | 'more'> {
  const received: Received = { progress: [], messages: [], listChanges: 0 }
  let wake = (): void => {}
  transport.onmessage = ({ method, params }: Notification) => {
    if (method === 'notifications/progress') received.progress.push(params?.progress ?? 0)
    if (method === 'notifications/message') received.messages.push(Number(params?.data))
    if (method === 'notifications/tools/list_changed') received.listChanges++
    wake()
  }
  return { received, more: async () => await new Promise(resolve => { wake = resolve }) }
}
