import t from 'tap'
import { createClient, prompt, resource, tool } from '../../app.js'
import { call, callTool } from '../support/messages.js'
import { answered, tryRows, variants, type Row } from '../support/rows.js'
import { startServer } from '../support/server.js'
import { gateway, listening } from '../support/gateway.js'
import { FAULTS, misbehaviour, nameOf } from './misbehaviour.js'

const KINDS: Record<string, (name: string) => Row['input']> = {
  'a tool': name => callTool(name),
  'a resource': name => call('resources/read', { uri: `bad://${name}` }),
  'a prompt': name => call('prompts/get', { name }),
  'a completion': name =>
    call('completion/complete', { ref: { type: 'ref/prompt', name }, argument: { name: 'it', value: '' } })
}

for (const [kind, input] of Object.entries(KINDS)) {
  t.test(`whatever ${kind} does, its caller gets an error and other callers notice nothing`, async t => {
    const server = await startServer(t, { plugins: [misbehaviour], callTimeout: 1_000 })
    await tryRows(
      t,
      server,
      variants(
        Object.keys(FAULTS).map(what => ({
          row: kind,
          title: what,
          input: input(nameOf(what)),
          expect: answered('-32603 id 7')
        }))
      )
    )
  })
}

t.test('nothing is a result of a tool, no resource, and no prompt', async t => {
  const app = await gateway(t, {
    plugins: [async ({ mcp: { tools, resources, prompts } }) => {
      tools.add(tool({ name: 'nothing', description: 'd', run: () => {} }))
      resources.add(resource({ uri: 'bad://nothing', name: 'nothing', read: () => undefined }))
      prompts.add(
        prompt({
          name: 'nothing',
          arguments: { it: { complete: (() => undefined) as never } },
          get: (() => undefined) as never
        })
      )
    }]
  })
  const { request } = await createClient(app)
  t.match(await request('tools/call', { name: 'nothing' }), { content: [], isError: false })
  await t.rejects(request('resources/read', { uri: 'bad://nothing' }), { code: -32002 })
  await t.rejects(request('prompts/get', { name: 'nothing' }), { code: -32603, message: /^Internal error/ })
  t.match(
    await request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'nothing' },
      argument: { name: 'it', value: '' }
    }),
    { completion: { values: [] } }
  )
})

const ODD: Record<string, unknown> = {
  'a number': 5,
  'an object without messages': {},
  'messages that are none': [{ role: 'judge', content: {} }],
  'a message without content': [{ role: 'user' }],
  'messages in an object that are none': { messages: ['hello'] }
}

t.test('what is not what a client expects is a fault, not an answer', async t => {
  const app = await gateway(t)
  const { request } = await createClient(app)
  for (const [what, value] of Object.entries(ODD)) {
    app.mcp.prompts.add(prompt({ name: what, get: () => value as string }))
    await t.rejects(
      request('prompts/get', { name: what }),
      { code: -32603, message: /^Internal error/ },
      `a prompt that is ${what}`
    )
  }
  for (const [index, value] of ['text', 5, {}, [1], [null]].entries()) {
    app.mcp.prompts.add(
      prompt({ name: `completes ${index}`, get: () => '', arguments: { it: { complete: () => value as string[] } } })
    )
    await t.rejects(
      request('completion/complete', {
        ref: { type: 'ref/prompt', name: `completes ${index}` },
        argument: { name: 'it', value: '' }
      }),
      { code: -32603 },
      JSON.stringify(value)
    )
  }
})

t.test('a handler that blocks the loop delays others, and no more', async t => {
  const { app, url } = await listening(t, { limits: { heartbeat: 100 }, callTimeout: 200 })
  app.mcp.tools.add(tool({
    name: 'block',
    description: 'd',
    run: () => {
      const until = performance.now() + 500
      while (performance.now() < until);
      return 'done'
    }
  }))
  const clients = await Promise.all([1, 2, 3].map(async () => await createClient(app)))
  const post = async (name: string, args = {}) =>
    await (
      await fetch(`${url}/message`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: callTool(name, args)('legacy')
      })
    ).json()
  const answers = await Promise.all([
    ...clients.map(async ({ request }) => await request('tools/call', { name: 'echo', arguments: { text: 'x' } })),
    post('block'),
    post('echo', { text: 'x' }),
    post('echo', { text: 'x' })
  ])
  for (const answer of answers) t.notMatch(JSON.stringify(answer), /"error"/)
})

t.test('an answer of 100 MB arrives, and others are served meanwhile', async t => {
  const { app, url } = await listening(t)
  app.mcp.tools.add(tool({ name: 'large', description: 'd', run: () => 'x'.repeat(100_000_000) }))
  const large = fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: callTool('large')('legacy')
  }).then(async reply => (await reply.arrayBuffer()).byteLength)
  t.equal((await fetch(`${url}/health`)).status, 200)
  t.ok(await large > 100_000_000)
})
