import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createClient, type Client, type ClientOptions } from '../../../app.js'
import type { ListLimits } from '../../../upstreams/lists/limits.js'
import { Lists } from '../../../upstreams/lists/lists.js'
import type { PinPort } from '../../../upstreams/pins/port.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { LIMITS, type FakeUpstream } from './fake-upstream.js'

type Json = Record<string, unknown>

/** A gateway with the lists of these upstreams, and what clients of it see. */
export interface Served {
  readonly app: FastifyInstance
  readonly lists: Lists
  readonly logged: Json[]
  readonly sentences: string[]
  /** Connects these upstreams in this order, and waits until each is read. */
  connect: (...upstreams: FakeUpstream[]) => Promise<void>
  client: (options?: ClientOptions) => Promise<Client>
}

/** A gateway without built-in tools in front of these upstreams, none of which is connected yet. */
export async function served (
  t: Test,
  upstreams: FakeUpstream[],
  limits: Partial<ListLimits> = {},
  app?: FastifyInstance,
  pins?: PinPort
): Promise<Served> {
  const place = app ?? (await gateway(t, { tools: false }))
  const logged: Json[] = []
  const sentences: string[] = []
  const lists = new Lists(
    place.mcp,
    place.mcp.store.values,
    { ...LIMITS, ...limits },
    {
      warn: (data, text) => {
        logged.push(data as Json)
        sentences.push(text)
      }
    },
    undefined,
    pins
  )
  t.teardown(() => lists.close())
  await lists.configure(upstreams)
  return {
    app: place,
    lists,
    logged,
    sentences,
    connect: async (...some) => {
      for (const upstream of some) {
        upstream.connect()
        await until(() => !lists.statusOf(upstream.entry.alias).stale, `the lists of ${upstream.entry.alias}`)
      }
    },
    client: async options => {
      const client = await createClient(place, options)
      t.teardown(() => client.close())
      return client
    }
  }
}

/** A member of all entries of a list. */
export async function listed (client: Client, method: string, member: string, key: string): Promise<unknown[]> {
  const found: unknown[] = []
  let cursor: unknown
  do {
    const page = await client.request(method, cursor === undefined ? {} : { cursor })
    found.push(...(page[member] as Json[]).map(entry => entry[key]))
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  return found
}

export const toolNames = async (client: Client): Promise<unknown[]> =>
  (await listed(client, 'tools/list', 'tools', 'name')).filter(name => String(name).includes('__'))

export const tool = (name: string, more: Json = {}): Json => ({ name, inputSchema: { type: 'object' }, ...more })
