import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { McpError, resource, tool } from '../../app.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { ERAS, Speaker, textOf } from '../support/speaker.js'

const UPDATED = 'notifications/resources/updated'

const serving = async (t: Test, ...items: Array<Tool | Resource>) =>
  await gateway(t, {
    http: false,
    tools: false,
    plugins: [
      async fastify => {
        for (const item of items) item.kind === 'tool' ? fastify.mcp.tools.add(item) : fastify.mcp.resources.add(item)
      }
    ]
  })

t.test('a tool words the error for wrong arguments itself', async t => {
  const given: unknown[] = []
  const app = await serving(t, tool({
    name: 'it',
    description: 'd',
    input: Type.Object({ n: Type.Number() }),
    explain: (args, why) => { given.push([args, why]); return `give me a number, not ${JSON.stringify(args['n'])}` },
    run: ({ n }) => n
  }))
  for (const version of ERAS) {
    const { result, error } = await new Speaker(app, { version }).tool('it', { n: 'x' })
    t.match(
      version >= '2025-11-25' ? result : error,
      version >= '2025-11-25'
        ? { isError: true, content: [{ text: /give me a number, not "x"/ }] }
        : { code: -32602, message: /give me a number, not "x"/ },
      version
    )
  }
  t.strictSame(given, ERAS.map(() => [{ n: 'x' }, 'n must be number']))
  t.equal(textOf(await new Speaker(app).tool('it', { n: 7 })), '7')
  t.equal(given.length, ERAS.length, 'it is asked only when something is wrong')
})

t.test('an explanation that throws is a fault like any other', async t => {
  const app = await serving(
    t,
    tool({
      name: 'it',
      description: 'd',
      input: Type.Object({ n: Type.Number() }),
      explain: () => {
        throw new Error('secret detail')
      },
      run: () => ''
    })
  )
  const answer = await new Speaker(app).tool('it')
  t.match(answer, { error: { code: -32603, message: /see the server's log/ } })
  t.notMatch(JSON.stringify(answer), /secret/)
})

t.test('an output that reports a failure is an error result, with the whole output', async t => {
  const app = await serving(t, tool({
    name: 'it',
    description: 'd',
    input: Type.Object({ code: Type.Integer() }),
    output: Type.Object({ code: Type.Integer() }),
    failed: ({ code }) => code !== 0,
    text: ({ code }) => `code ${code}`,
    run: ({ code }) => ({ code })
  }))
  for (const version of ERAS) {
    const structured = version >= '2025-06-18'
    const speaker = new Speaker(app, { version })
    const bad = (await speaker.tool('it', { code: 3 })).result
    t.match(
      bad,
      {
        isError: true,
        content: [{ type: 'text', text: 'code 3' }],
        ...(structured ? { structuredContent: { code: 3 } } : {})
      },
      version
    )
    const good = (await speaker.tool('it', { code: 0 })).result
    t.equal(good.isError, version >= '2025-11-25' ? false : undefined, version)
  }
})

t.test('a tool without an output schema may fail so, too', async t => {
  const values: unknown[] = ['bad', { bad: true }, undefined, [{ type: 'text', text: 'bad' }]]
  for (const value of values) {
    const app = await serving(
      t,
      tool({
        name: 'it',
        description: 'd',
        failed: output => {
          t.strictSame(output, value)
          return true
        },
        run: () => value as object
      })
    )
    t.match(await new Speaker(app).tool('it'), { result: { isError: true } }, JSON.stringify(value))
  }
})

t.test('only true is a failure, and what is thrown instead is a fault', async t => {
  for (const verdict of [false, undefined, 'yes', 1]) {
    const app = await serving(
      t,
      tool({ name: 'it', description: 'd', failed: () => verdict as boolean, run: () => 'fine' })
    )
    t.match(await new Speaker(app).tool('it'), { result: { isError: false } }, String(verdict))
  }
  const app = await serving(
    t,
    tool({
      name: 'it',
      description: 'd',
      failed: () => {
        throw new Error('secret detail')
      },
      run: () => 'fine'
    })
  )
  t.match(await new Speaker(app).tool('it'), { error: { code: -32603, message: /see the server's log/ } })
})

t.test('members for the gateway are not sent to clients', async t => {
  const app = await serving(
    t,
    tool({ name: 'it', description: 'd', explain: () => '', failed: () => false, text: () => '', run: () => '' }),
    resource({
      uri: 'w:///{id}',
      name: 'w',
      list: () => [],
      watch: () => () => {},
      complete: { id: () => [] },
      cache: { ttlMs: 5 },
      read: () => ''
    })
  )
  const speaker = new Speaker(app, { version: '2026-07-28' })
  t.strictSame(Object.keys(((await speaker.request('tools/list')).result.tools as Json[])[0] as Json).sort(), [
    'description',
    'inputSchema',
    'name'
  ])
  t.strictSame((await speaker.request('resources/templates/list')).result.resourceTemplates, [
    { uriTemplate: 'w:///{id}', name: 'w' }
  ])
})

t.test('a mistake in a definition is found when it is made', async t => {
  const TOOLS: Array<[member: Json, expected: RegExp]> = [
    [{ failed: true }, /failed/],
    [{ explain: 'words' }, /explain/],
    [{ text: 'words' }, /text/]
  ]
  for (const [member, expected] of TOOLS) {
    t.throws(
      () => tool({ name: 'it', description: 'd', run: () => '', ...member } as Parameters<typeof tool>[0]),
      { message: expected },
      JSON.stringify(member)
    )
  }
  const RESOURCES: Array<[member: Json, expected: RegExp]> = [
    [{ list: [] }, /list/],
    [{ watch: {} }, /watch/],
    [{ onChange: () => {} }, /there is no "onChange"/]
  ]
  for (const [member, expected] of RESOURCES) {
    t.throws(
      () => resource({ uri: 'w:///{id}', name: 'w', read: () => '', ...member } as Parameters<typeof resource>[0]),
      { message: expected },
      JSON.stringify(member)
    )
  }
  t.throws(() => resource({ uri: 'w:///1', name: 'w', list: () => [], read: () => '' }), {
    message: 'resource "w": only a template has a "list"'
  })
})

/** A resource whose watches are counted, and changed by the test. */
function watched (uri: 'w:///{id}' | 'w:///1' = 'w:///{id}') {
  const counts = { begun: [] as string[], stopped: [] as string[] }
  const changes = new Map<string, () => void>()
  const item = resource({
    uri,
    name: 'w',
    watch: (one, changed) => {
      if (one.endsWith('absent')) return undefined
      if (one.endsWith('full')) throw new McpError(-32603, 'as many as can be', { max: 1 })
      if (one.endsWith('broken')) throw new Error('secret detail')
      counts.begun.push(one)
      changes.set(one, changed)
      return () => { counts.stopped.push(one) }
    },
    read: () => ''
  })
  return { item, counts, change: (one: string) => changes.get(one)?.() }
}

t.test('a resource is watched once while there are subscribers, of whatever revision', async t => {
  const { item, counts, change } = watched()
  const app = await serving(t, item)
  const speakers = ERAS.map(version => new Speaker(app, { version }))
  for (const speaker of speakers) await speaker.subscribe('w:///1')
  await speakers[0]?.subscribe('w:///2')
  t.strictSame(counts.begun, ['w:///1', 'w:///2'])
  change('w:///1')
  for (const speaker of speakers) t.match(await speaker.next(UPDATED), { uri: 'w:///1' })
  change('w:///2')
  t.match(await speakers[0]?.next(UPDATED), { uri: 'w:///2' })
  for (const speaker of speakers.slice(0, -1)) {
    await speaker.request('resources/unsubscribe', { uri: 'w:///1' }).catch(() => {})
  }
  t.strictSame(counts.stopped, [], 'somebody still listens')
  speakers.at(-1)?.close()
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(counts.stopped, ['w:///1'])
  change('w:///1')
  t.strictSame(speakers.map(({ notifications }) => notifications), ERAS.map(() => []), 'no client is notified any more')
  await app.close()
  t.strictSame(counts.stopped, ['w:///1', 'w:///2'])
})

t.test('a fixed resource can be watched like any other', async t => {
  const { item, counts, change } = watched('w:///1')
  const speaker = new Speaker(await serving(t, item))
  await speaker.subscribe('w:///1')
  t.strictSame(counts.begun, ['w:///1'])
  change('w:///1')
  t.match(await speaker.next(UPDATED), { uri: 'w:///1' })
})

t.test('a resource that cannot be watched is reported as each revision prescribes', async t => {
  const { item, counts } = watched()
  const app = await serving(t, item)
  for (const version of ERAS.slice(0, -1)) {
    const subscribe = async (uri: string) => await new Speaker(app, { version }).request('resources/subscribe', { uri })
    t.match(
      await subscribe('w:///absent'),
      { error: { code: -32002, message: 'Resource not found: w:///absent' } },
      version
    )
    t.match(await subscribe('w:///full'), { error: { code: -32603, message: 'as many as can be' } }, version)
    const broken = await subscribe('w:///broken')
    t.match(broken, { error: { code: -32603, message: /see the server's log/ } }, version)
    t.notMatch(JSON.stringify(broken), /secret/)
  }
  const modern = new Speaker(app, { version: '2026-07-28' })
  modern.send('subscriptions/listen', {
    notifications: { resourceSubscriptions: ['w:///absent', 'w:///full', 'w:///broken', 'w:///1', 'w:///1'] }
  })
  t.match(await modern.next('notifications/subscriptions/acknowledged'), {
    notifications: { resourceSubscriptions: ['w:///1'] }
  })
  t.strictSame(counts.begun, ['w:///1'])
})

t.test('a subscription to an unknown resource is not acknowledged', async t => {
  const modern = new Speaker(await serving(t, watched().item), { version: '2026-07-28' })
  modern.send('subscriptions/listen', { notifications: { resourceSubscriptions: ['nowhere:///1', 'w:///1'] } })
  t.strictSame((await modern.next('notifications/subscriptions/acknowledged'))['notifications'], {
    resourceSubscriptions: ['w:///1']
  })
})

t.test('a subscription that is cancelled while its watch starts leaves no watch', async t => {
  let start = () => {}
  let stopped = 0
  const app = await serving(t, resource({
    uri: 'slow:///1',
    name: 's',
    watch: async () => { await new Promise<void>(resolve => { start = resolve }); return () => { stopped++ } },
    read: () => ''
  }))
  for (const [version, method, params] of [
    ['2026-07-28', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['slow:///1'] } }],
    ['2025-11-25', 'resources/subscribe', { uri: 'slow:///1' }]
  ] as const) {
    stopped = 0
    const speaker = new Speaker(app, { version })
    speaker.send(method, params)
    speaker.close()
    start()
    await new Promise(resolve => setImmediate(resolve))
    t.equal(stopped, 1, version)
  }
})
