import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, McpError, tool as localTool, ToolError, Type, type Call, type Client, type Options } from '../../../app.js'
import { stopTime } from '../../support/clocks.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { gateway } from '../../support/gateway.js'
import { ADA, BOB, bearer, listed as key } from '../../support/keys.js'
import type { Json } from '../../support/specification/message.js'
import { ASKING, ERAS, Speaker } from '../../support/speaker.js'
import { until } from '../../support/wait.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { listed, served, tool } from '../../upstreams/lists/served.js'

/** The shortest patience there is, in milliseconds. */
const SHORT = 100

interface Result extends Json { content: Array<Json & { type: string, text: string, uri: string }> }

/** Tools that end when the test says so, and their calls. */
class Works {
  readonly calls: Call[] = []
  readonly #ends: Array<{ resolve: (value: unknown) => void, reject: (error: Error) => void }> = []

  get count (): number {
    return this.calls.length
  }

  end (value: unknown): void {
    for (const { resolve } of this.#ends.splice(0)) resolve(value)
  }

  endFirst (value: unknown): void {
    this.#ends.shift()?.resolve(value)
  }

  fail (error: Error): void {
    for (const { reject } of this.#ends.splice(0)) reject(error)
  }

  run = async (_: unknown, call: Call): Promise<unknown> => {
    this.calls.push(call)
    return await new Promise<unknown>((resolve, reject) => {
      this.#ends.push({ resolve, reject })
      call.signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }

  plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    const output = Type.Object({ done: Type.Boolean() })
    mcp.tools.add(localTool({ name: 'work', description: 'Works', patience: SHORT, run: this.run }))
    mcp.tools.add(localTool({
      name: 'typed', description: 'Works', patience: SHORT, output, run: this.run as () => Promise<{ done: boolean }>
    }))
    mcp.tools.add(localTool({ name: 'plain', description: 'Works', run: this.run }))
  }
}

async function withWorks (t: Test, options: Partial<Options> = {}): Promise<{ app: FastifyInstance, works: Works }> {
  const works = new Works()
  const app = await gateway(t, { tools: false, ...options, plugins: [works.plugin, ...options.plugins ?? []] })
  return { app, works }
}

async function client (t: Test, app: FastifyInstance, principal?: string, view?: string): Promise<Client> {
  const identity = principal === undefined ? {} : { identity: { principal, scopes: 'all' as const } }
  const made = await createClient(app, { ...(view !== undefined && { view }), ...identity })
  t.teardown(async () => await made.close())
  return made
}

const call = async (of: Client, name: string, args: Json = {}): Promise<Result> =>
  await of.request('tools/call', { name, arguments: args }) as Result

const idIn = ({ content }: Result): string =>
  String(content.find(({ type }) => type === 'resource_link')?.uri).slice('patchbay://call/'.length)

const stateOf = async (of: Client, id: string): Promise<Json> => {
  const { contents } = await of.request('resources/read', { uri: `patchbay://call/${id}` }) as { contents: [{ text: string }] }
  return JSON.parse(contents[0].text) as Json
}

t.test('a call that outlasts the patience of its client is answered, and its result is fetched later', async t => {
  const { app, works } = await withWorks(t)
  const ada = await client(t, app, 'ada')
  const early = await call(ada, 'work')
  const id = idIn(early)
  t.match(early.content, [
    { type: 'text', text: /^\[work still runs after 0\.\d s, and goes on\. Do not call it again\. For its result, call get_result with \{"id":"[\w-]{22}"\}, which waits for it, or read patchbay:\/\/call\/[\w-]{22}\. To end it, call cancel_result with / },
    { type: 'resource_link', uri: `patchbay://call/${id}`, name: 'Result of work' }
  ])
  t.match(await call(ada, 'get_result', { id, wait: 0 }), { content: [{ text: /^\[work still runs, .* again to wait on\.\]$/ }] })
  t.match(await stateOf(ada, id), { status: 'working', tool: 'work' })
  const waiting = call(ada, 'get_result', { id })
  works.end({ answer: 42 })
  t.match(await waiting, { content: [{ text: '{"answer":42}' }], structuredContent: { answer: 42 } })
  t.match(await call(ada, 'get_result', { id: `patchbay://call/${id}` }), { structuredContent: { answer: 42 } }, 'again, by its URI')
  t.match(await stateOf(ada, id), { status: 'completed', result: { structuredContent: { answer: 42 } } })
  t.equal(works.count, 1)
})

t.test('it is fetched over another transport or revision, by its owner alone: to others it looks unknown', async t => {
  const { app, works } = await withWorks(t)
  const ada = await client(t, app, 'ada')
  const id = idIn(await call(ada, 'work'))
  const nothing = 'A'.repeat(22)
  for (const stranger of [await client(t, app, 'bob'), await client(t, app)]) {
    for (const name of ['get_result', 'cancel_result']) {
      const words = async (of: string): Promise<string> =>
        JSON.stringify(await call(stranger, name, { id: of })).replaceAll(of, 'ID')
      t.equal(await words(id), await words(nothing), name)
      t.match(await words(id), /There is no call \\?"ID\\?", or it has expired/)
    }
    await t.rejects(stateOf(stranger, id), { message: /not found/i })
  }
  works.end('done')
  for (const version of ERAS) {
    const again = new Speaker(app, { version, principal: 'ada' })
    t.match((await again.tool('get_result', { id })).result, { content: [{ type: 'text', text: 'done' }] }, version)
  }
  const nobody = await client(t, app)
  const own = idIn(await call(nobody, 'work'))
  t.match(await call(ada, 'get_result', { id: own }), { isError: true }, 'that of an anonymous caller is not hers')
  t.match(await call(await client(t, app), 'get_result', { id: own, wait: 0 }), { content: [{ text: /still runs/ }] })
})

t.test('in every revision the result, or the error, is the one that the call would have had', async t => {
  const { app, works } = await withWorks(t)
  for (const version of ERAS) {
    const speaker = new Speaker(app, { version, principal: version })
    const directly = async (end: () => void): Promise<unknown> => {
      const before = works.count
      const answer = speaker.tool('plain')
      await until(() => works.count > before, 'the call')
      end()
      return await answer
    }
    const later = async (end: () => void): Promise<unknown> => {
      const { result } = await speaker.tool('work')
      const [, id] = /"id":"([\w-]{22})"/.exec(JSON.stringify(result).replaceAll('\\', '')) ?? []
      end()
      return await speaker.tool('get_result', { id })
    }
    const ends = [
      () => works.end({ answer: 42 }),
      () => works.end([{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }]),
      () => works.fail(new ToolError('it went wrong')),
      () => works.fail(new McpError(-32001, 'no clipboard', { why: 'headless' }))
    ]
    for (const end of ends) {
      const plain = (answer: unknown): unknown => ({ ...answer as object, id: undefined })
      t.strictSame(plain(await later(end)), plain(await directly(end)), version)
    }
  }
})

t.test('neither a cancellation nor a lost connection ends it, and its owner cancels it by its id', async t => {
  const { app, works } = await withWorks(t)
  const ada = await client(t, app, 'ada')
  const speaker = new Speaker(app, { principal: 'ada' })
  const sent = speaker.send('tools/call', { name: 'work', arguments: {} })
  const id = idIn((await speaker.answerTo(sent)).result as Result)
  t.equal(speaker.peer.inbound.size, 0, 'its client may use the id again')
  app.mcp.dispatcher.receive(
    app.mcp.dispatcher.decode(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: sent } })
    ), speaker.peer, { streams: false, respond: () => {}, emit: () => {}, end: () => {} }
  )
  speaker.close()
  t.equal(works.calls[0]?.signal.aborted, false)
  t.match(await call(ada, 'cancel_result', { id }), { content: [{ text: 'The call of work was cancelled.' }] })
  await until(() => works.calls[0]?.signal.aborted === true, 'the end of the work')
  t.match(await call(ada, 'get_result', { id }), { isError: true, content: [{ text: 'The call of work was cancelled' }] })
  t.match(await stateOf(ada, id), { status: 'cancelled' })
  const second = idIn(await call(ada, 'work'))
  works.end('done')
  t.match(await call(ada, 'get_result', { id: second }), { content: [{ text: 'done' }] })
  t.match(await call(ada, 'cancel_result', { id: second }), { content: [{ text: 'The call of work had ended before.' }] })
  t.match(await call(ada, 'get_result', { id: second }), { content: [{ text: 'done' }] }, 'a result stays')
})

const QUESTION = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } } as const

t.test('a call that has asked its client is never answered early, neither before the answer nor after it', async t => {
  const works = new Works()
  const plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(localTool({
      name: 'asking',
      description: 'Asks, then works',
      patience: SHORT,
      run: async (args, call) => {
        const { action } = await call.elicit('name', QUESTION)
        return [action, await works.run(args, call)].join(' ')
      }
    }))
  }
  const app = await gateway(t, { tools: false, plugins: [works.plugin, plugin] })
  for (const version of ASKING) {
    let answer = (_: unknown): void => {}
    const speaker = new Speaker(app, {
      version,
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': async () => await new Promise(resolve => { answer = resolve }) }
    })
    const asked = speaker.tool('asking')
    await speaker.until(() => speaker.asked.length > 0)
    // Another call of the same patience begins later and is answered early: by then this one would have been.
    t.match((await new Speaker(app, { version }).tool('work')).result, { content: [{ text: /still runs/ }] })
    const before = works.count
    answer({ action: 'decline' })
    await until(() => works.count > before, 'the work after the answer')
    t.match((await new Speaker(app, { version }).tool('work')).result, { content: [{ text: /still runs/ }] })
    works.end('worked')
    t.match((await asked).result, { content: [{ text: 'decline worked' }] }, version)
  }
})

t.test('a call that asks after it was answered hears that its client cannot be asked', async t => {
  const works = new Works()
  const plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(localTool({
      name: 'later',
      description: 'Works, then asks',
      patience: SHORT,
      run: async (args, call) => {
        await works.run(args, call)
        const can = call.can('elicitation/create', QUESTION)
        return await call.elicit('name', QUESTION).then(() => 'asked', (error: Error) => `${can}: ${error.message}`)
      }
    }))
  }
  const app = await gateway(t, { tools: false, plugins: [works.plugin, plugin] })
  for (const version of ASKING) {
    const speaker = new Speaker(app, { version, capabilities: { elicitation: {} } })
    const id = idIn((await speaker.tool('later')).result as Result)
    works.end(undefined)
    t.match((await speaker.tool('get_result', { id })).result, {
      content: [{ text: /^false: The client cannot be asked for elicitation\/create: its request .* was answered before / }]
    }, version)
    t.strictSame(speaker.asked, [])
  }
})

t.test('a call that would time out is answered just before, progress puts that off, and taskTtl ends it', async t => {
  const { app, works } = await withWorks(t, {
    callTimeout: 400,
    limits: { taskTtl: 1_500 },
    plugins: [async ({ mcp }: FastifyInstance) => {
      mcp.tools.add(localTool({ name: 'long', description: 'Works', patience: 60_000, run: (args, call) => works.run(args, call) }))
    }]
  })
  const ada = await client(t, app, 'ada')
  const answered = call(ada, 'long')
  await until(() => works.count === 1, 'the call')
  const startedAt = performance.now()
  works.calls[0]?.progress(1)
  const id = idIn(await answered)
  t.ok(performance.now() - startedAt > 300)
  await until(() => works.calls[0]?.signal.aborted === true, 'the end of the time')
  t.match(await call(ada, 'get_result', { id }), { isError: true, content: [{ text: /time|given up/i }] })
  t.match(await stateOf(ada, id), { status: 'failed', error: { code: -32603 } })
})

t.test('where no more can be kept, or the store fails, the call goes on as if there were no patience', async t => {
  const { app, works } = await withWorks(t, { limits: { maxTasksPerPrincipal: 1 } })
  const ada = await client(t, app, 'ada')
  const bob = await client(t, app, 'bob')
  const first = idIn(await call(ada, 'work'))
  const second = call(ada, 'work')
  t.ok(idIn(await call(bob, 'work')), 'by then the second call would have been answered, too')
  t.intercept(app.mcp.store.values, 'put', { value: async () => { throw new Error('the disk is full') } })
  const third = call(await client(t, app, 'eve'), 'work')
  await until(() => works.count === 4, 'all calls')
  await call(await client(t, app, 'eve'), 'get_result', { id: first, wait: 2 * SHORT })
  works.end('done')
  for (const answer of [second, third]) t.strictSame((await answer).content, [{ type: 'text', text: 'done' }])
})

t.test('patience is set by authors, for a server, for a tool of it and in a view, and false turns it off', async t => {
  const upstream = new FakeUpstream('docs', {
    tools: [tool('slow', { outputSchema: { type: 'object' } }), tool('quick')],
    answers: { 'tools/call': async () => await new Promise(() => {}) }
  }, { patience: SHORT, override: { quick: { patience: false } } })
  const works = new Works()
  const app = await gateway(t, {
    tools: false,
    plugins: [works.plugin],
    views: {
      calm: { tools: ['work', 'docs__*'], override: { work: { patience: false }, docs__slow: { patience: false } } },
      plain: { tools: ['plain'] }
    }
  })
  const place = await served(t, [upstream], {}, app)
  await place.connect(upstream)
  await app.mcp.additions.settle()
  const names = async (view?: string): Promise<unknown[]> =>
    await listed(await place.client(view === undefined ? {} : { view }), 'tools/list', 'tools', 'name')
  t.ok((await names()).includes('get_result'))
  t.ok((await names('docs')).includes('cancel_result'))
  for (const view of ['calm', 'plain']) t.notOk((await names(view)).includes('get_result'), view)
  const { tools } = await (await place.client({})).request('tools/list') as { tools: Json[] }
  t.strictSame(tools.filter(({ outputSchema }) => outputSchema !== undefined), [], 'an early answer would not fit')
  const direct = await place.client({ view: 'docs' })
  t.match(await call(direct, 'slow'), { content: [{ text: /^\[slow still runs/ }] })
  t.match(app.mcp.tools.get('docs__quick'), { patience: false })
})

t.test('a patience that is none refuses the start, and the tool', async t => {
  const message = /patience must be "client", a whole number of milliseconds from 100 on, or false/
  for (const patience of [99, true, 'never', 1.5, null]) {
    const override = { work: { patience } } as unknown as NonNullable<NonNullable<Options['views']>[string]['override']>
    await t.rejects(gateway(t, { tools: false, views: { bad: { override } } }), { message }, String(patience))
    t.throws(() => localTool({ name: 'a', description: 'A', patience: patience as 100, run: () => '' }), {
      message: /tool "a": "patience" must be "client"/
    })
  }
})

t.test('it works through call_tool, and with results that are shortened', async t => {
  const { app, works } = await withWorks(t, { views: { found: { search: true, results: { max: 2_000 } } } })
  const found = await client(t, app, 'ada', 'found')
  const early = await call(found, 'call_tool', { name: 'work', arguments: {} })
  const id = idIn(early)
  works.end('line\n'.repeat(1_000))
  const { content } = await call(found, 'call_tool', { name: 'get_result', arguments: { id } })
  t.match(content, [{ text: /^line[^]*\[Whole result: 5000 characters/ }, { type: 'resource_link', uri: /^patchbay:\/\/result\// }])
})

t.test('the audit log has one line for the call, with the time that it took in all', async t => {
  const lines: Json[] = []
  const { app, works } = await withWorks(t, {})
  const ada = await client(t, app, 'ada')
  app.mcp.onEnd(({ params: { name }, response: { ms } }, { outcome }) => { lines.push({ name, ms, outcome }) })
  const id = idIn(await call(ada, 'work'))
  t.strictSame(lines, [])
  await call(ada, 'get_result', { id, wait: SHORT })
  works.end('done')
  await until(() => lines.some(({ name }) => name === 'work'), 'the end')
  const line = lines.find(({ name }) => name === 'work')
  t.match(line, { outcome: 'ok' })
  t.ok(Number(line?.ms) > 1.9 * SHORT)
})

t.test('metrics count the early answers of each tool', async t => {
  const { app, works } = await withWorks(t, { metrics: true })
  const ada = await client(t, app, 'ada')
  await Promise.all(['work', 'work', 'typed'].map(async name => await call(ada, name)))
  works.end('done')
  const text = await app.inject('/metrics').then(({ body }) => body)
  t.match(text, /^patchbay_early_answers_total\{tool="work"\} 2$/m)
  t.match(text, /^patchbay_early_answers_total\{tool="typed"\} 1$/m)
})

t.test('at shutdown it may take the grace period; what has not ended by then is stored as failed', async t => {
  const options = { data: await dataFolder(t), grace: 500 }
  const { app, works } = await withWorks(t, options)
  const ada = await client(t, app, 'ada')
  const ended = idIn(await call(ada, 'work'))
  const endless = idIn(await call(ada, 'typed'))
  works.calls[0]?.signal.addEventListener('abort', () => t.fail('it had time'))
  const closed = app.close()
  await until(() => app.mcp.dispatcher.lifecycle.isDraining, 'the shutdown')
  works.endFirst('done')
  await closed
  const next = await withWorks(t, options)
  const again = await client(t, next.app, 'ada')
  t.match(await call(again, 'get_result', { id: ended }), { content: [{ text: 'done' }] })
  t.match(await call(again, 'get_result', { id: endless }), { isError: true, content: [{ text: /shutting down/ }] })
})

t.test('over plain HTTP a call that outlasts it is accepted, and its result is read where the answer says', async t => {
  const views = {
    calm: { tools: ['typed'], override: { typed: { patience: false as const } } },
    found: { tools: ['typed'], search: true }
  }
  const { app, works } = await withWorks(t, { rest: true, views })
  const post = async (accept: string) => await app.inject({
    method: 'POST', url: '/api/tools/typed', payload: '{}', headers: { 'content-type': 'application/json', accept }
  })
  const accepted = await post('application/json')
  t.equal(accepted.statusCode, 202)
  const { resultAt, ...rest } = accepted.json<{ resultAt: string }>()
  t.match(rest, { status: 'working', call: /^patchbay:\/\/call\/[\w-]{22}$/ })
  t.equal(accepted.headers.location, resultAt)
  const read = async (): Promise<Json> => {
    const { contents } = (await app.inject(resultAt)).json<{ contents: [{ text: string }] }>()
    return JSON.parse(contents[0].text) as Json
  }
  t.match(await read(), { status: 'working' })
  works.end({ done: true })
  await until(async () => (await read())['status'] === 'completed', 'the end')
  t.match(await read(), { result: { structuredContent: { done: true } } })
  t.match((await post('text/event-stream')).body, /^event: accepted\ndata: \{"status":"working"/m)
  const quick = post('application/json')
  await until(() => works.count === 3, 'the call')
  works.end({ done: true })
  t.match(await quick, { statusCode: 200 })
  const documentOf = async (path: string) =>
    (await app.inject(`/api${path}/openapi.json`)).json<{ paths: Json, components: Json }>()
  const { paths, components } = await documentOf('')
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Accepted' } } }
  t.match(paths, {
    '/tools/typed': { post: { responses: { 202: { content } } } },
    '/tools/get_result': { post: { responses: { 200: {}, 202: undefined } } }
  })
  t.match(components, { schemas: { Accepted: { required: Object.keys(accepted.json<object>()) } } })
  const calm = await documentOf('/calm')
  t.match(calm, { paths: { '/tools/typed': { post: { responses: { 200: {}, 202: undefined } } } } })
  t.match(calm.components, { schemas: { Accepted: undefined } })
  t.match((await documentOf('/found')).paths, {
    '/tools/call_tool': { post: { responses: { 202: { content } } } },
    '/tools/find_tools': { post: { responses: { 202: undefined } } }
  }, 'a call by way of another tool')
})

t.test('the document of plain HTTP says of no tool that a caller may not use that it has patience', async t => {
  const apiKeys = [key('ada', ADA, ['mcp', 'more']), key('bob', BOB)]
  const views = { found: { tools: ['typed'], search: true as const } }
  const { app } = await withWorks(t, { rest: true, views, apiKeys, scopes: { 'tools/typed': ['more'] } })
  const responsesFor = async (secret: string): Promise<unknown> => {
    const reply = await app.inject({ url: '/api/found/openapi.json', headers: bearer(secret) })
    const { paths } = reply.json<{ paths: Record<string, { post: { responses: object } }> }>()
    return paths['/tools/call_tool']?.post.responses
  }
  t.match(await responsesFor(ADA), { 200: {}, 202: {} })
  t.match(await responsesFor(BOB), { 200: {}, 202: undefined })
})

t.test('nor of one whose calls must be tasks, which plain HTTP cannot make', async t => {
  const must = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(localTool({ name: 'must', description: 'd', patience: SHORT, task: 'must', run: () => 'done' }))
  }
  const views = { all: { tools: ['must', 'typed'], search: true as const }, found: { tools: ['must'], search: true as const } }
  const { app } = await withWorks(t, { rest: true, views, plugins: [must] })
  const responsesIn = async (view: string): Promise<unknown> => {
    const { paths } = (await app.inject({ url: `/api/${view}/openapi.json` }))
      .json<{ paths: Record<string, { post: { responses: object } }> }>()
    return paths['/tools/call_tool']?.post.responses
  }
  t.match(await responsesIn('all'), { 200: {}, 202: {} })
  t.match(await responsesIn('found'), { 200: {}, 202: undefined })
})

t.test('with "client" a call is answered shortly before the client gives up, as far as its name is known', async t => {
  const works = new Works()
  const plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(localTool({ name: 'work', description: 'Works', patience: 'client', run: works.run }))
  }
  const app = await gateway(t, { tools: false, plugins: [plugin], callTimeout: 1e6, callTimeoutMax: 1e6 })
  await app.mcp.additions.settle()
  const clock = stopTime(t)
  for (const [name, seconds] of [['judge', 55], ['claude-ai', 55], ['gemini-cli-mcp-client', 550]] as const) {
    const caller = new Speaker(app, { principal: 'ada' })
    caller.peer.client = { name, version: '1' }
    const { count } = works
    const id = caller.send('tools/call', { name: 'work', arguments: {} })
    await until(() => works.count > count, 'the call')
    let answered = false
    void caller.answerTo(id).then(() => { answered = true })
    await clock.pass((seconds - 1) * 1_000, 1_000)
    t.notOk(answered, `${name} still waits`)
    await clock.pass(2_000, 500)
    t.match((await caller.answerTo(id)).result, { content: [{ text: new RegExp(`still runs after ${seconds}`) }, {}] }, name)
    works.end('done')
  }
})
