import { Writable } from 'node:stream'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { prompt, resource, tool as localTool, type Client, type Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { listed, served, tool, type Served } from '../../upstreams/lists/served.js'

export const readOnly = { annotations: { readOnlyHint: true } }

/** A server with three tools, one of which only reads. */
export function github (): FakeUpstream {
  const say = (text: unknown): Json => ({ role: 'user', content: { type: 'text', text: String(text) } })
  return new FakeUpstream('github', {
    tools: [
      tool('search', readOnly),
      tool('create_issue', { annotations: { readOnlyHint: false } }),
      tool('delete_repo')
    ],
    prompts: [{ name: 'review' }],
    resources: [{ uri: 'repo://one', name: 'one' }],
    templates: [{ uriTemplate: 'repo://file/{path}', name: 'file' }],
    instructions: 'Words of github.',
    answers: {
      'prompts/get': ({ name }) => ({ messages: [say(name)] }),
      'completion/complete': () => ({ completion: { values: ['secret', 'readme'] } })
    }
  })
}

/** A server that has a tool of the same name as the other. */
export function docs (): FakeUpstream {
  return new FakeUpstream('docs', {
    tools: [tool('search', readOnly), tool('lookup')],
    prompts: [{ name: 'explain' }],
    resources: [{ uri: 'page://a', name: 'a' }, { uri: 'page://secret', name: 'secret' }],
    instructions: 'Words of docs.'
  })
}

/** A plugin with things of the gateway itself. */
export async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(localTool({ name: 'calculate', description: 'Calculates', ...readOnly, run: () => '4' }))
  mcp.tools.add(localTool({ name: 'write', description: 'Writes', run: () => 'written' }))
  mcp.prompts.add(prompt({ name: 'greet', arguments: { who: { complete: () => ['Ada'] } }, get: () => 'Hello' }))
  mcp.resources.add(resource({ uri: 'own://text', name: 'text', read: () => 'text' }))
}

/** A gateway with two upstreams and things of its own, and these views. */
export async function curated (
  t: Test,
  views: Options['views'],
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<Served & { upstreams: FakeUpstream[] }> {
  const app = await gateway(t, { tools: false, plugins: [own], views, ...options }, server)
  const upstreams = [github(), docs()]
  const place = await served(t, upstreams, {}, app)
  await place.connect(...upstreams)
  await announced()
  return { ...place, upstreams }
}

/** Settles when what changed so far was announced. */
export const announced = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))

export const names = async (client: Client): Promise<unknown[]> => await listed(client, 'tools/list', 'tools', 'name')

/** Everything that a client sees, by kind. */
export async function all (client: Client): Promise<Record<string, unknown[]>> {
  return {
    tools: await names(client),
    prompts: await listed(client, 'prompts/list', 'prompts', 'name'),
    resources: await listed(client, 'resources/list', 'resources', 'uri'),
    templates: await listed(client, 'resources/templates/list', 'resourceTemplates', 'uriTemplate')
  }
}

/** A logger, and what it has logged. */
export function logged (level: string): { lines: Json[], server: FastifyServerOptions } {
  const lines: Json[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Json)
      done()
    }
  })
  return { lines, server: { loggerInstance: pino({ level }, out) } }
}

/** The answer of a request that fails, with the name that it asked for taken out. */
export async function refusal (client: Client, method: string, params: Json, name: string): Promise<unknown> {
  return await client.request(method, params).then(
    () => 'no error',
    ({ code, message, data }: { code: number, message: string, data: unknown }) =>
      JSON.parse(JSON.stringify({ code, message, data }).replaceAll(name, 'NAME'))
  )
}
