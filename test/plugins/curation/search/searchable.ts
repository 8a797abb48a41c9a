import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { tool as localTool, type Client, type Options } from '../../../../app.js'
import { gateway } from '../../../support/gateway.js'
import type { Json } from '../../../support/specification/message.js'
import { FakeUpstream } from '../../../upstreams/lists/fake-upstream.js'
import { served, tool, type Served } from '../../../upstreams/lists/served.js'

type ServerOptions = NonNullable<Parameters<typeof gateway>[2]>

const schema = (properties: Json, required: string[]): Json =>
  ({ inputSchema: { type: 'object', properties, required } })

/** A server of issues, whose tools are scoped as it is. */
export function github (more: Partial<FakeUpstream['entry']> = {}): FakeUpstream {
  return new FakeUpstream('github', {
    tools: [
      tool('search', { description: 'Search repositories' }),
      tool('create_issue', {
        description: 'Open an issue. It needs a token.',
        ...schema({ repo: { type: 'string' }, title: { type: 'string' } }, ['repo'])
      }),
      tool('delete_repo', { description: 'Delete a repository for ever' })
    ],
    instructions: 'Works with repositories. Be careful.'
  }, more)
}

export function docs (): FakeUpstream {
  return new FakeUpstream('docs', {
    tools: [
      tool('search', { description: 'Search pages of the handbook' }),
      tool('lookup', { description: 'Look a word up' })
    ],
    instructions: 'Knows the handbook.'
  })
}

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(localTool({
    name: 'calculate',
    description: 'Adds two numbers',
    input: Type.Object({ a: Type.Number(), b: Type.Number() }, { additionalProperties: false }),
    run: ({ a, b }) => String(a + b)
  }))
}

/** A gateway with two servers and a tool of its own, and these views. */
export async function searchable (
  t: Test,
  views: Options['views'] = { all: { search: true } },
  options: Partial<Options> = {},
  upstreams = [github(), docs()],
  server: ServerOptions = {}
): Promise<Served & { upstreams: FakeUpstream[] }> {
  const app = await gateway(t, { tools: false, plugins: [own], views, ...options }, server)
  const place = await served(t, upstreams, {}, app)
  await place.connect(...upstreams)
  await announced()
  return { ...place, upstreams }
}

/** Settles when what changed so far was announced. */
export const announced = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))

/** The names of the tools that a query finds. */
export async function found (client: Client, query: string, more: Json = {}): Promise<unknown[]> {
  const { output } = await client.call('find_tools', { query, ...more })
  return (output as { tools: Json[] }).tools.map(({ name }) => name)
}

/** The error that a call fails with; undefined for a call that does not. */
export async function failure (client: Client, params: Json): Promise<Json | undefined> {
  return await client.request('tools/call', params).then(
    result => result['isError'] === true ? result : undefined,
    ({ code, message, data }: { code: number, message: string, data: unknown }) => ({ code, message, data })
  )
}

/** The params of a call by way of `call_tool`. */
export const indirect = (name: string, args?: Json): Json =>
  ({ name: 'call_tool', arguments: { name, ...(args === undefined ? {} : { arguments: args }) } })
