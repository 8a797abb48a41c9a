import t from 'tap'
import { startServer } from '../support/server.js'
import { RESOURCE, startIssuer } from '../support/environment/issuer.js'
import { ADA, apiKeys, BOB, challengeOf, headOf, listed } from '../support/keys.js'
import { speakers } from './speakers.js'

const NETWORK = Object.entries(speakers).filter(([name]) => !name.startsWith('stdio'))
const HAS_STATUS = ['session', 'stateless', 'message']
const note = { name: 'add_note', arguments: { content: 'x' } }
const names = (result: unknown): string[] =>
  (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)

for (const [name, speak] of NETWORK) {
  t.test(`over ${name} a key opens what it was made for, and the rest is not there`, async t => {
    const server = await startServer(t, { apiKeys: [...apiKeys, listed('eve', 'pb_eve', ['mcp'])], tools: true })
    const [ada, bob, eve] = await Promise.all(
      [ADA, BOB, 'pb_eve'].map(async key => await speak({ ...server, head: headOf(key) }))
    )

    t.ok(names((await ada?.ask('tools/list'))?.result).includes('add_note'), 'notes grants notes:write')
    t.notOk(names((await ada?.ask('tools/list'))?.result).includes('web_search'))
    t.notOk(names((await eve?.ask('tools/list'))?.result).includes('add_note'))
    t.ok(names((await bob?.ask('tools/list'))?.result).includes('web_search'), 'admin grants everything')

    t.match(await ada?.ask('tools/call', note), { result: {} })
    t.match(await bob?.ask('tools/call', note), { result: {} })
    const denied = await eve?.ask('tools/call', note)
    if (HAS_STATUS.includes(name)) {
      t.match(denied, {
        status: 403,
        error: { code: -32600, message: /notes:write/, data: { requiredScopes: ['notes:write'] } }
      })
      t.strictSame(challengeOf(denied?.headers?.get('www-authenticate')), {
        realm: 'mcp-patchbay',
        error: 'insufficient_scope',
        error_description: 'this needs more than was granted',
        scope: 'notes:write'
      })
    } else {
      const unknown = await eve?.ask('tools/call', { ...note, name: 'nobody_knows' })
      t.equal(denied?.error?.code, -32602)
      t.strictSame(
        JSON.stringify(denied?.error).replaceAll('add_note', '?'),
        JSON.stringify(unknown?.error).replaceAll('nobody_knows', '?'),
        'as if it were not there'
      )
    }
    for (const speaker of [ada, bob, eve]) await speaker?.close()
  })
}

t.test('the challenge for more names every scope of the operation, and where to get them', async t => {
  const issuer = await startIssuer(t)
  const server = await startServer(t, { oauth: issuer.options, scopes: { 'tools/echo': ['one', 'two:three'] } })
  const speak = async (scope: string) =>
    await speakers['message']?.({ ...server, head: headOf(await issuer.sign({ scope })) })
  const echo = { name: 'echo', arguments: { text: 'hi' } }
  for (const scope of ['mcp', 'one', 'two', '']) {
    const denied = await (await speak(scope))?.ask('tools/call', echo)
    t.equal(denied?.status, 403, scope)
    t.strictSame(challengeOf(denied?.headers?.get('www-authenticate')), {
      error: 'insufficient_scope',
      error_description: 'this needs more than was granted',
      scope: 'one two:three',
      resource_metadata: `${new URL(RESOURCE).origin}/.well-known/oauth-protected-resource/mcp`
    })
  }
  for (const scope of ['one two:three', 'two one', 'admin']) {
    t.match(await (await speak(scope))?.ask('tools/call', echo), { status: 200, result: {} }, scope)
  }
})

t.test('a session belongs to the key that opened it, and a session is no key', async t => {
  const server = await startServer(t, { apiKeys })
  const ada = await speakers['session']?.({ ...server, head: headOf(ADA) })
  const [session] = server.app.mcp.dispatcher.lifecycle.peers
  t.equal(session?.principal, 'key:ada')
  const id = (
    await server.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'x-api-key': ADA },
      payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
    })
  ).headers['mcp-session-id'] as string
  const visit = async (headers: Record<string, string>) =>
    (
      await server.app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { 'mcp-session-id': id, ...headers },
        payload: { jsonrpc: '2.0', id: 2, method: 'ping' }
      })
    ).statusCode
  t.equal(await visit({ 'x-api-key': ADA }), 200)
  t.equal(await visit({ 'x-api-key': BOB }), 404)
  t.equal(await visit({}), 401)
  await ada?.close()
})

t.test('programs run for callers with that scope, over the network too', async t => {
  const server = await startServer(t, {
    apiKeys: [...apiKeys, listed('runner', 'pb_run', ['exec'])],
    tools: true,
    commands: { echo: { args: ['\\w+'] } }
  })
  const run = { name: 'execute_command', arguments: { command: 'echo', args: ['hello'] } }
  for (const [name, speak] of NETWORK.filter(([name]) => ['message', 'websocket'].includes(name))) {
    const runner = await speak({ ...server, head: headOf('pb_run') })
    t.match(await runner.ask('tools/call', run), { result: { content: [{ text: 'hello\n' }] } }, name)
    await runner.close()
    const ada = await speak({ ...server, head: headOf(ADA) })
    t.ok((await ada.ask('tools/call', run)).error, name)
    await ada.close()
  }
})
