import { Type } from '@sinclair/typebox'
import t from 'tap'
import { build, createClient, prompt, resource, tool } from '../../app.js'
import type { Schema } from '../../protocol/schema/schema.js'
import { gateway } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { callTool, type Json } from '../support/modern.js'

const named = (name: string) => tool({ name, description: 'd', run: () => name })

const names = ({ tools }: Json): string[] => (tools as Array<{ name: string }>).map(({ name }) => name)

t.test('what is added or removed while clients are connected is announced, listed and called', async t => {
  const app = await gateway(t)
  const client = await createClient(app)
  app.mcp.tools.add(named('late'))
  await within(60_000, async () => await client.notified('notifications/tools/list_changed'))
  t.ok(names(await client.request('tools/list')).includes('late'))
  t.match(await client.request('tools/call', { name: 'late' }), { content: [{ text: 'late' }] })
  t.equal(app.mcp.tools.remove('late'), true)
  t.equal(app.mcp.tools.remove('late'), false)
  await within(60_000, async () => await client.notified('notifications/tools/list_changed'))
  t.notOk(names(await client.request('tools/list')).includes('late'))
  await t.rejects(client.request('tools/call', { name: 'late' }), { code: -32602, message: /Unknown tool: late/ })
})

t.test('many changes in one turn are one announcement', async t => {
  const app = await gateway(t)
  const client = await createClient(app)
  for (let index = 0; index < 50; index++) app.mcp.tools.add(named(`t${index}`))
  app.mcp.prompts.add(prompt({ name: 'p', get: () => 'x' }))
  app.mcp.resources.add(resource({ uri: 'a://b', name: 'b', read: () => 'x' }))
  app.mcp.resources.add(resource({ uri: 'a://{b}', name: 'c', read: () => 'x' }))
  for (const what of ['tools', 'prompts', 'resources']) {
    await within(60_000, async () => await client.notified(`notifications/${what}/list_changed`))
  }
  await client.request('ping')
  t.strictSame(client.notifications.map(({ method }) => method).filter(method => !method.includes('resources')), [])
})

t.test('a call that is under way when its tool is removed is answered', async t => {
  const app = await gateway(t)
  let finish: (value: string) => void = () => {}
  app.mcp.tools.add(
    tool({
      name: 'late',
      description: 'd',
      run: async () =>
        await new Promise<string>(resolve => {
          finish = resolve
        })
    })
  )
  const { request } = await createClient(app)
  const answer = request('tools/call', { name: 'late' })
  app.mcp.tools.remove('late')
  finish('done')
  t.match(await answer, { content: [{ text: 'done' }] })
})

t.test('a name that is taken is refused, and the first tool stays', async t => {
  const app = await gateway(t)
  t.throws(() => app.mcp.tools.add(named('echo')), /there is a tool "echo" already/)
  t.throws(
    () => app.mcp.prompts.add(prompt({ name: 'introduce', get: () => '' })),
    /there is a prompt "introduce" already/
  )
  t.throws(
    () => app.mcp.resources.add(resource({ uri: 'test://text', name: 'x', read: () => '' })),
    /there is a resource "test:\/\/text" already/
  )
  t.match(await callTool(app, 'echo', { text: 'hi' }), { result: { structuredContent: { text: 'hi' } } })
})

t.test('whether a client can be asked is known before it is asked', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(tool({
    name: 'can',
    description: 'd',
    run: (_input, call) => ({
      form: call.can('elicitation/create'),
      page: call.can('elicitation/create', { url: 'https://example.org' }),
      model: call.can('sampling/createMessage'),
      modelWithTools: call.can('sampling/createMessage', { tools: [] }),
      roots: call.can('roots/list')
    })
  }))
  const can = async (capabilities: Json): Promise<unknown> =>
    (await callTool(app, 'can', {}, { capabilities })).result.structuredContent
  const none = { form: false, page: false, model: false, modelWithTools: false, roots: false }
  t.strictSame(await can({}), none)
  t.strictSame(await can({ elicitation: {} }), { ...none, form: true })
  t.strictSame(await can({ elicitation: { url: {} } }), { ...none, page: true })
  t.strictSame(
    await can({ elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } }),
    { form: true, page: true, model: true, modelWithTools: true, roots: true }
  )
  const early = await createClient(app, {
    protocolVersion: '2024-11-05',
    capabilities: { elicitation: {}, sampling: {} }
  })
  const { content } = await early.request('tools/call', { name: 'can' }) as { content: [{ text: string }] }
  t.strictSame(
    JSON.parse(content[0].text),
    { ...none, model: true },
    'a revision without elicitation cannot be asked, whatever its client declares'
  )
})

const MISTAKES: Array<[what: string, make: () => unknown, expected: RegExp]> = [
  ['an empty tool name', () => named(''), /tool name ""/],
  ['a tool name with a blank', () => named('a b'), /tool name "a b": use 1 to 128 of/],
  ['a tool name that is too long', () => named('x'.repeat(129)), /tool name "x+"/],
  [
    'no name',
    () => tool({ description: 'd', run: () => '' } as unknown as Parameters<typeof tool>[0]),
    /^a tool needs a name$/
  ],
  [
    'an input that is not an object',
    () => tool({ name: 'it', description: 'd', input: Type.String() as unknown as Schema, run: () => '' }),
    /tool "it": input must be a schema of type object/
  ],
  [
    'an input schema that is not one',
    () =>
      tool({
        name: 'it',
        description: 'd',
        input: { type: 'object', properties: { a: { type: 'strin' } } },
        run: () => ''
      }),
    /tool "it": .*type/
  ],
  [
    'an output schema that is not one',
    () => tool({ name: 'it', description: 'd', output: { type: 'objekt' }, run: () => '' }),
    /tool "it": .*type/
  ],
  [
    'a reference to elsewhere',
    () =>
      tool({ name: 'it', description: 'd', input: { type: 'object', $ref: 'https://example.org/x' }, run: () => '' }),
    /tool "it": can't resolve reference/
  ],
  [
    'an unknown dialect',
    () => tool({ name: 'it', description: 'd', input: { $schema: 'urn:x', type: 'object' }, run: () => '' }),
    /tool "it": JSON Schema dialect urn:x/
  ],
  [
    'a header in the wrong place',
    () =>
      tool({ name: 'it', description: 'd', input: { type: 'object', items: { 'x-mcp-header': 'A' } }, run: () => '' }),
    /tool "it": x-mcp-header/
  ],
  ['a tool without run', () => tool({ name: 'it', description: 'd' } as never), /tool "it"/],
  ['a prompt without a name', () => prompt({ name: '', get: () => '' }), /prompt/],
  [
    'a resource that is no URI',
    () => resource({ uri: 'not a uri', name: 'it', read: () => '' }),
    /resource "it": "not a uri" is not a URI/
  ],
  ['a template that is not one', () => resource({ uri: 'a://{b', name: 'it', read: () => '' }), /"a:\/\/\{b"/],
  [
    'suggestions for a variable that is not there',
    () => resource({ uri: 'a://{b}', name: 'it', complete: { c: () => [] }, read: () => '' }),
    /resource "it": "c" is not a variable/
  ]
]

for (const [what, make, expected] of MISTAKES) {
  t.test(`${what} is a mistake that shows when it is made`, async t => t.throws(make, expected))
}

t.test('a wrong option is named before anything starts', async t => {
  await t.rejects(build({ port: 70_000 }), /option port must be <= 65535/)
  await t.rejects(build({ pageSize: 0 }), /option pageSize/)
  await t.rejects(build({ callTimeout: 1.5 }), /option callTimeout must be integer/)
  await t.rejects(build({ prefix: 'ai' }), /option prefix/)
  await t.rejects(build({ secret: 'short' }), /option secret/)
  await t.rejects(build({ nonsense: 1 } as never), /option "nonsense" does not exist/)
})
