import t, { type Test } from 'tap'
import { createClient, prompt, resource } from '../../../app.js'
import type { PromptMessage } from '../../../protocol/definitions/prompt.js'
import { gateway } from '../../support/gateway.js'

async function serving (t: Test, protocolVersion = '2025-11-25') {
  const app = await gateway(t, { http: false })
  const { request } = await createClient(app, { protocolVersion })
  return { app, request, read: async (uri: string) => (await request('resources/read', { uri })).contents }
}

t.test('a resource may be text, bytes, data, or contents spelled out', async t => {
  const { app, read } = await serving(t)
  const add = (name: string, value: object | string, mimeType?: string) =>
    app.mcp.resources.add(
      resource({ uri: `it://${name}`, name, ...(mimeType === undefined ? {} : { mimeType }), read: () => value })
    )
  add('text', 'hello', 'text/plain')
  add('untyped', 'hello')
  add('bytes', new Uint8Array([1, 2, 3]))
  add('buffer', Buffer.from('xhellox').subarray(1, 6), 'text/x')
  add('data', { a: [1] })
  add('spelled', [{ uri: 'it://part/1', text: 'one' }, { uri: 'it://part/2', blob: 'AAAA' }])
  t.strictSame(await read('it://text'), [{ uri: 'it://text', mimeType: 'text/plain', text: 'hello' }])
  t.strictSame(await read('it://untyped'), [{ uri: 'it://untyped', text: 'hello' }])
  t.strictSame(await read('it://bytes'), [{ uri: 'it://bytes', blob: 'AQID' }])
  t.strictSame(await read('it://buffer'), [
    { uri: 'it://buffer', mimeType: 'text/x', blob: Buffer.from('hello').toString('base64') }
  ])
  t.strictSame(await read('it://data'), [{ uri: 'it://data', mimeType: 'application/json', text: '{"a":[1]}' }])
  t.strictSame(await read('it://spelled'), [{ uri: 'it://part/1', text: 'one' }, { uri: 'it://part/2', blob: 'AAAA' }])
})

t.test('a list is data, unless every entry is contents spelled out', async t => {
  const { app, read } = await serving(t)
  const lists: object[][] | unknown[][] = [
    [1, 2, 3],
    [{ id: 1 }],
    [{ uri: 'it://part' }],
    [{ uri: 'it://part', text: 7 }],
    [{ uri: 'it://part', text: 'one' }, null],
    ['a']
  ]
  for (const [index, list] of lists.entries()) {
    app.mcp.resources.add(resource({ uri: `it://list/${index}`, name: 'list', read: () => list }))
    t.strictSame(await read(`it://list/${index}`), [
      { uri: `it://list/${index}`, mimeType: 'application/json', text: JSON.stringify(list) }
    ])
  }
})

t.test('empty text is content, undefined is not', async t => {
  const { app, read } = await serving(t)
  app.mcp.resources.add(resource({ uri: 'it://empty', name: 'empty', read: () => '' }))
  app.mcp.resources.add(resource({ uri: 'it://gone', name: 'gone', read: () => undefined }))
  t.match(await read('it://empty'), [{ text: '' }])
  await t.rejects(read('it://gone'), { code: -32002, data: { uri: 'it://gone' } })
})

t.test('a template reads every URI that matches, and an exact URI goes first', async t => {
  const { app, read } = await serving(t)
  app.mcp.resources.add(resource({ uri: 'it://{a}/{+b}', name: 'template', read: variables => variables }))
  app.mcp.resources.add(resource({ uri: 'it://x/y', name: 'exact', read: () => 'exact' }))
  t.match(await read('it://x/y'), [{ text: 'exact' }])
  t.match(await read('it://x/y/z%20'), [{ uri: 'it://x/y/z%20', text: '{"a":"x","b":"y/z "}' }])
  await t.rejects(read('it://x'), { code: -32002 })
  app.mcp.resources.remove('it://x/y')
  t.match(await read('it://x/y'), [{ text: '{"a":"x","b":"y"}' }])
})

t.test('notes on contents are trimmed for revisions that do not know them', async t => {
  for (const [version, known] of [['2025-03-26', false], ['2025-06-18', true]] as const) {
    const { app, read } = await serving(t, version)
    app.mcp.resources.add(
      resource({ uri: 'it://noted', name: 'noted', read: () => [{ uri: 'it://noted', text: 'x', _meta: { k: 1 } }] })
    )
    t.equal('_meta' in (await read('it://noted') as [object])[0], known, version)
  }
})

t.test('a prompt may be text, messages, or a result', async t => {
  const { app, request } = await serving(t)
  const messages: PromptMessage[] = [{ role: 'assistant', content: { type: 'text', text: 'hi' } }]
  app.mcp.prompts.add(prompt({ name: 'text', description: 'd', get: () => 'hi' }))
  app.mcp.prompts.add(prompt({ name: 'messages', get: async () => messages }))
  app.mcp.prompts.add(prompt({ name: 'result', description: 'd', get: () => ({ description: 'another', messages }) }))
  t.strictSame(await request('prompts/get', { name: 'text' }), {
    description: 'd',
    messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }]
  })
  t.strictSame(await request('prompts/get', { name: 'messages' }), { messages })
  t.strictSame(await request('prompts/get', { name: 'result' }), { description: 'another', messages })
})

t.test('a prompt gets the arguments it was given, and must be given the required ones', async t => {
  const { app, request } = await serving(t)
  app.mcp.prompts.add(
    prompt({ name: 'p', arguments: { a: { required: true }, b: {} }, get: given => JSON.stringify(given) })
  )
  t.match(await request('prompts/get', { name: 'p', arguments: { a: '1', b: '2' } }), {
    messages: [{ content: { text: '{"a":"1","b":"2"}' } }]
  })
  t.match(await request('prompts/get', { name: 'p', arguments: { a: '' } }), {
    messages: [{ content: { text: '{"a":""}' } }]
  })
  await t.rejects(request('prompts/get', { name: 'p', arguments: { b: '2' } }), {
    code: -32602,
    message: /prompt p needs a/
  })
  await t.rejects(request('prompts/get', { name: 'p' }), { code: -32602 })
  await t.rejects(request('prompts/get', { name: 'p', arguments: { a: 1 } }), {
    code: -32602,
    message: /arguments\.a must be string/
  })
  await t.rejects(request('prompts/get', { name: 'nowhere' }), { code: -32602, message: /Unknown prompt: nowhere/ })
})

t.test('a client gets log messages at the level it chose', async t => {
  const app = await gateway(t, { http: false })
  const client = await createClient(app)
  const say = async (level: string) =>
    await client.request('tools/call', { name: 'say', arguments: { level, text: level } })
  const receivedLevels = () => client.notifications.splice(0).map(({ params }) => params.level)
  for (const level of ['debug', 'info', 'notice', 'warning', 'error']) await say(level)
  t.strictSame(receivedLevels(), ['warning', 'error'], 'until it chose one')
  await client.request('logging/setLevel', { level: 'debug' })
  await say('debug')
  await client.request('logging/setLevel', { level: 'emergency' })
  await say('alert')
  await say('emergency')
  t.strictSame(receivedLevels(), ['debug', 'emergency'])
  await t.rejects(client.request('logging/setLevel', { level: 'loud' }), { code: -32602, message: /level/ })
})
