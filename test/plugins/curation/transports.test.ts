import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { WebSocket } from 'ws'
import { createClient, prompt, resource, tool } from '../../../app.js'
import { narrowingOf } from '../../../protocol/http/narrowing.js'
import { INITIALIZE } from '../../app/mount-clients.js'
import { startIssuer, RESOURCE } from '../../support/environment/issuer.js'
import { gateway, listening } from '../../support/gateway.js'
import { ADA, bearer, BOB, listed, ping } from '../../support/keys.js'
import type { Json } from '../../support/specification/message.js'
import { bestTime, cpuTime } from '../../support/timing.js'
import { curated } from './curated.js'
import { overStdio, roads, type Ask } from './roads.js'

async function things ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(
    tool({ name: 'calculate', description: 'Calculates', annotations: { readOnlyHint: true }, run: () => '4' })
  )
  mcp.tools.add(tool({ name: 'look', description: 'Looks', annotations: { readOnlyHint: true }, run: () => 'seen' }))
  mcp.tools.add(tool({ name: 'write', description: 'Writes', run: () => 'written' }))
  mcp.prompts.add(prompt({ name: 'greet', get: () => 'Hello' }))
  mcp.resources.add(resource({ uri: 'own://text', name: 'text', read: () => 'text' }))
}

const base = {
  tools: false as const,
  plugins: [things],
  views: { maths: { tools: ['calc*'] }, other: { readOnly: true } }
}

async function namesOf (ask: Ask): Promise<unknown> {
  const answer = await ask('tools/list')
  return (answer.result as { tools: Json[] } | undefined)?.tools.map(({ name }) => name) ?? answer.error
}

/** The answer without what each call has anew. */
const essence = ({ result, error }: Json): string => {
  const { _meta, ttlMs, cacheScope, resultType, ...rest } = (result ?? error) as Json
  return JSON.stringify(rest)
}

/** Requests that only what a view has in it answers, and those that it must refuse. */
const SCRIPT: Array<[method: string, params?: Json]> = [
  ['tools/list'],
  ['prompts/list'],
  ['resources/list'],
  ['tools/call', { name: 'calculate' }],
  ['tools/call', { name: 'look' }],
  ['tools/call', { name: 'nothing' }],
  ['prompts/get', { name: 'greet' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: '' } }]
]

t.test('a view is the same over stdio, HTTP, HTTP+SSE, WebSocket and POST /message', async t => {
  const { app, url } = await listening(t, base)
  const all: Array<[string, Ask]> = [['stdio', await overStdio(t, app, { view: 'maths' })]]
  for (const [name, connect] of Object.entries(roads)) all.push([name, await connect(t, url, { view: 'maths' })])
  const transcripts = new Map<string, string[]>()
  for (const [name, ask] of all) {
    const transcript: string[] = []
    for (const [method, params] of SCRIPT) transcript.push(essence(await ask(method, params)))
    transcripts.set(name, transcript)
  }
  const [first] = transcripts.values()
  t.match(first, [
    /"name":"calculate"/,
    /"prompts":\[\]/,
    /"resources":\[\]/,
    /"text":"4"/,
    /Unknown tool: look"/,
    /Unknown tool: nothing"/,
    /Unknown prompt: greet"/,
    /Unknown prompt: greet"/
  ])
  for (const [name, transcript] of transcripts) t.strictSame(transcript, first, name)
})

const keys = [listed('ada', ADA, ['mcp'], { view: 'maths' }), listed('bob', BOB, ['mcp'])]

for (const [name, connect] of Object.entries(roads)) {
  t.test(`${name}: a key that is bound to a view gets it at a URL without one, and nothing elsewhere`, async t => {
    const { app, url } = await listening(t, { ...base, apiKeys: keys })
    const bound = await connect(t, url, { headers: bearer(ADA) })
    t.strictSame(await namesOf(bound), ['calculate'])
    t.match(await bound('tools/call', { name: 'write' }), { error: { code: -32602, message: /Unknown tool: write$/ } })
    t.strictSame(await namesOf(await connect(t, url, { headers: bearer(ADA), view: 'maths' })), ['calculate'])
    t.strictSame(await namesOf(await connect(t, url, { headers: bearer(BOB) })), ['calculate', 'look', 'write'])
    await app.mcp.curation.configure({ other: {} })
    t.strictSame(await namesOf(bound), [], 'a view that is gone is empty')
    t.strictSame(await namesOf(await connect(t, url, { headers: bearer(ADA) })), [], 'for new clients, too')
  })

  t.test(`${name}: query and headers narrow what a client sees, and never add to it`, async t => {
    const { url } = await listening(t, base)
    const seen = async (way: Parameters<typeof connect>[2]): Promise<unknown> =>
      await namesOf(await connect(t, url, way))
    t.strictSame(await seen({ query: 'tools=look,write,nothing' }), ['look', 'write'])
    t.strictSame(await seen({ query: 'tools=*o*' }), ['look'])
    t.strictSame(await seen({ query: 'readonly' }), ['calculate', 'look'])
    t.strictSame(await seen({ query: 'readonly=false' }), ['calculate', 'look', 'write'])
    t.strictSame(await seen({ headers: { 'x-mcp-tools': 'look, write', 'x-mcp-readonly': 'true' } }), ['look'])
    t.strictSame(await seen({ headers: { 'x-mcp-exclude-tools': 'w*' } }), ['calculate', 'look'])
    t.strictSame(await seen({ headers: { 'x-mcp-toolsets': 'github' } }), [])
    t.strictSame(
      await seen({ headers: { 'x-mcp-toolsets': 'github', 'x-mcp-tools': 'write' } }),
      ['write'],
      'the two headers add up'
    )
    t.strictSame(await seen({ headers: { 'x-mcp-toolsets': 'all', 'x-mcp-tools': 'write' } }), [
      'calculate',
      'look',
      'write'
    ])
    t.strictSame(
      await seen({ query: 'tools=look', headers: { 'x-mcp-tools': 'write' } }),
      [],
      'query and headers do not'
    )
    t.strictSame(
      await seen({ view: 'maths', query: 'tools=look,write,calculate' }),
      ['calculate'],
      'never more than the view has'
    )
    const narrowed = await connect(t, url, { query: 'tools=look' })
    t.match(await narrowed('tools/call', { name: 'look' }), { result: { content: [{ text: 'seen' }] } })
    for (const hidden of ['write', 'nothing']) {
      t.match(await narrowed('tools/call', { name: hidden }), {
        error: { code: -32602, message: `Invalid params: Unknown tool: ${hidden}` }
      })
    }
    t.match(
      await narrowed('tools/call', { name: 'writ' }),
      { error: { message: /Unknown tool: writ$/ } },
      'what is hidden is not suggested'
    )
    const toolset = await connect(t, url, { headers: { 'x-mcp-toolsets': 'github' } })
    t.match(await toolset('prompts/get', { name: 'greet' }), {
      error: { code: -32602, message: /Unknown prompt: greet$/ }
    })
    t.match(await toolset('resources/read', { uri: 'own://text' }), { error: {} })
    t.strictSame(await seen({}), ['calculate', 'look', 'write'], 'others see everything')
  })
}

t.test('a bound key is refused at the URL of another view, and at one that is not there, with one answer', async t => {
  const app = await gateway(t, { ...base, apiKeys: keys })
  const answers = []
  for (const view of ['other', 'nowhere']) {
    for (const path of ['/mcp', '/message']) {
      const { statusCode, body } = await app.inject({
        method: 'POST',
        url: `${path}/${view}`,
        headers: { ...bearer(ADA), accept: 'application/json, text/event-stream' },
        payload: ping
      })
      t.equal(statusCode, 403)
      t.match(body, /this credential is for the view \\"maths\\" alone; use \/mcp, or the URL of that view/)
      answers.push(body)
    }
    t.equal(
      (await app.inject({ url: `/sse/${view}`, headers: { ...bearer(ADA), accept: 'text/event-stream' } })).statusCode,
      403
    )
  }
  t.equal(answers[0], answers[2])
})

t.test('a bound key opens no WebSocket and no stream at another view or at an upstream, with one answer', async t => {
  const url = await (await curated(t, base.views, { apiKeys: keys })).app.listen({ port: 0, host: '127.0.0.1' })
  const upgrade = async (path: string, key: string): Promise<{ status: number, text: string }> => {
    const socket = new WebSocket(url.replace('http', 'ws') + path, 'mcp', { headers: bearer(key) })
    t.teardown(() => socket.terminate())
    return await new Promise((resolve, reject) => {
      socket.on('open', () => resolve({ status: 101, text: '' })).on('error', reject)
      socket.on('unexpected-response', (_, response) => {
        text(response).then(text => resolve({ status: response.statusCode ?? 0, text }), reject)
      })
    })
  }
  const answers = new Set<string>()
  for (const view of ['other', 'github', 'nowhere']) {
    for (const path of [`/mcp/${view}`, `/sse/${view}`]) {
      const { status, text } = await upgrade(path, ADA)
      t.equal(status, 403, path)
      answers.add(text)
      for (const accept of ['text/event-stream', 'application/json']) {
        t.equal((await fetch(url + path, { headers: { ...bearer(ADA), accept } })).status, 403, `GET ${path} for ${accept}`)
      }
    }
  }
  t.equal(answers.size, 1, 'what is there is refused as what is not')
  t.match([...answers], [/this credential is for the view/])
  for (const [path, key] of [['/mcp', ADA], ['/mcp/maths', ADA], ['/mcp/github', BOB]] as const) {
    t.equal((await upgrade(path, key)).status, 101, path)
  }
})

t.test('a key that is bound to another view ends its connections, and the change is named', async t => {
  const { app, url } = await listening(t, { ...base, apiKeys: keys })
  const connect = roads['WebSocket']
  const bound = await connect?.(t, url, { headers: bearer(ADA) })
  t.strictSame(bound && (await namesOf(bound)), ['calculate'])
  t.match(app.mcp.identities.replaceKeys([listed('ada', ADA, ['mcp'], { view: 'other' }), listed('bob', BOB)]), {
    added: [],
    removed: [],
    changed: ['ada']
  })
  const again = await connect?.(t, url, { headers: bearer(ADA) })
  t.strictSame(again && (await namesOf(again)), ['calculate', 'look'])
})

t.test('a token is bound to a view by its scope or by a claim', async t => {
  const issuer = await startIssuer(t)
  const byScope = await gateway(t, { ...base, oauth: { issuer: issuer.url, resource: RESOURCE, viewClaim: 'scope' } })
  const byClaim = await gateway(t, {
    ...base,
    oauth: { issuer: issuer.url, resource: RESOURCE, viewClaim: 'patchbay_view' }
  })
  const ask = async (app: FastifyInstance, token: string): Promise<unknown> => {
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/message',
      headers: bearer(token),
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    return statusCode === 200
      ? (JSON.parse(body) as { result: { tools: Json[] } }).result.tools.map(({ name }) => name)
      : statusCode
  }
  t.strictSame(await ask(byScope, await issuer.sign({ scope: 'mcp view:maths' })), ['calculate'])
  t.strictSame(await ask(byScope, await issuer.sign({ scope: 'mcp' })), ['calculate', 'look', 'write'])
  t.strictSame(await ask(byScope, await issuer.sign({ scope: 'mcp view:gone' })), [])
  t.strictSame(await ask(byScope, await issuer.sign({ scope: 'mcp view:maths view:other' })), 401)
  t.strictSame(await ask(byClaim, await issuer.sign({ scope: 'mcp', patchbay_view: 'maths' })), ['calculate'])
  t.strictSame(await ask(byClaim, await issuer.sign({ scope: 'mcp', patchbay_view: 7 })), 401)
  t.strictSame(await ask(byClaim, await issuer.sign({ scope: 'mcp view:maths' })), ['calculate', 'look', 'write'])
})

t.test('over stdio and in the same process, a bound identity has its view', async t => {
  const app = await gateway(t, base)
  const identity = { principal: 'ada', scopes: new Set(['mcp']), view: 'maths' }
  t.strictSame(await namesOf(await overStdio(t, app, { identity })), ['calculate'])
  const client = await createClient(app, { identity })
  t.match(await client.request('tools/list'), { tools: [{ name: 'calculate' }] })
  await t.rejects(createClient(app, { identity, view: 'other' }), {
    message: /an identity that is for the view "maths" alone/
  })
})

t.test('lists of narrowed names that are too long are refused', async t => {
  const app = await gateway(t, base)
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await app.inject({ method: 'POST', url: '/message', headers, payload: ping })).statusCode
  t.equal(await status({ 'x-mcp-tools': Array.from({ length: 600 }, (_, index) => `t${index}`).join() }), 400)
  t.equal(await status({ 'x-mcp-tools': Array.from({ length: 40 }, (_, index) => `t${index}*`).join() }), 400)
  t.equal(await status({ 'x-mcp-tools': `${'a*'.repeat(70)}` }), 400)
  t.equal(await status({ 'x-mcp-tools': '*'.repeat(10_000) }), 200, 'which is one')
  t.equal(await status({ 'x-mcp-tools': Array.from({ length: 100 }, (_, index) => `t${index}`).join() }), 200)
  const { statusCode, headers } = await app.inject({
    method: 'POST',
    url: `/mcp?tools=${Array.from({ length: 40 }, (_, index) => `t${index}*`).join()}`,
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    payload: INITIALIZE
  })
  t.strictSame([statusCode, headers['mcp-session-id']], [400, undefined], 'no session is left')
})

t.test('patterns of narrowing cost little, however they are made', async t => {
  const items = Array.from({ length: 5_000 }, (_, index) => ({ name: `${'a'.repeat(45)}${index}` }))
  for (const odd of [`*${'?'.repeat(24)}`, '*a'.repeat(55), '*'.repeat(450)]) {
    const patterns = (mark: string): string => Array.from({ length: 32 }, (_, index) => `${odd}${mark}${index}`).join()
    let round = 0
    const took = await bestTime(300, async () => {
      const narrowing = narrowingOf({ tools: patterns(`q${round}`) }, { 'x-mcp-exclude-tools': patterns(`x${round++}`) })
      return cpuTime(() => { for (const item of items) narrowing?.keeps('tools', item) })
    })
    t.ok(took < 300, `${took} ms with ${odd.slice(0, 30)}`)
  }
})
