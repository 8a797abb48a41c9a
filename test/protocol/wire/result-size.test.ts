import t from 'tap'
import { createClient, prompt, resource, tool } from '../../../app.js'
import { checkLengths } from '../../../protocol/wire/result-size.js'
import { gateway } from '../../support/gateway.js'

const ENDLESS = new Array(2 ** 32 - 1)

t.test('lists that would never be written are refused, also inside others', async t => {
  for (const value of [
    ENDLESS,
    { a: ENDLESS },
    [[ENDLESS]],
    { content: [], structuredContent: { rows: { a: [1, { b: ENDLESS }] } } },
    new Float64Array(200_000)
  ]) {
    t.throws(() => checkLengths(value), /elements is no result/)
  }
})

t.test('whatever else there is passes, and is not walked through', async t => {
  const cycle: Record<string, unknown> = {}
  cycle.self = [cycle]
  const far = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]))
  for (const value of [
    undefined,
    null,
    'x',
    7,
    {},
    [],
    new Array(1_000_000),
    new Date(),
    new Map(),
    cycle,
    far,
    new Uint8Array(1_000)
  ]) {
    t.doesNotThrow(() => checkLengths(value))
  }
})

t.test('a tool, a resource, a prompt and a completion that give one fail alone, and the gateway goes on', async t => {
  const app = await gateway(t)
  const endless: unknown = ENDLESS
  app.mcp.tools.add(tool({ name: 'endless', description: 'x', run: () => ENDLESS }))
  app.mcp.tools.add(
    tool({ name: 'endless_inside', description: 'x', run: async () => ({ rows: [{ cells: ENDLESS }] }) })
  )
  app.mcp.tools.add(
    tool({
      name: 'endless_output',
      description: 'x',
      output: { type: 'object', properties: { rows: { type: 'array', items: { type: 'string' } } } },
      run: () => ({ rows: ENDLESS })
    })
  )
  app.mcp.resources.add(resource({ uri: 'endless://x', name: 'x', read: () => ENDLESS as object[] }))
  app.mcp.prompts.add(
    prompt({ name: 'endless', arguments: { a: { complete: () => endless as string[] } }, get: () => endless as never })
  )
  const client = await createClient(app)
  for (const name of ['endless', 'endless_inside', 'endless_output']) {
    await t.rejects(client.request('tools/call', { name }), { code: -32603 }, name)
  }
  await t.rejects(client.request('resources/read', { uri: 'endless://x' }), { code: -32603 })
  await t.rejects(client.request('prompts/get', { name: 'endless' }), { code: -32603 })
  await t.rejects(
    client.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'endless' },
      argument: { name: 'a', value: '' }
    }),
    { code: -32603 }
  )
  t.match(await client.request('ping'), {})
  client.close()
})
