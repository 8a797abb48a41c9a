import t from 'tap'
import { until } from '../../support/wait.js'
import { toolSource, watchedFolder } from '../../support/watched-folder.js'

/** A Fastify plugin whose body is given. */
const plugin = (body: string, head = 'export default async app =>'): string =>
  `import { tool, resource, prompt } from 'mcp-patchbay'\n${head} {\n${body}\n}\n`
const add = (name: string, expression: number): string =>
  `app.mcp.tools.add(tool({ name: '${name}', description: 'd', run: () => String(${expression}) }))`

t.test('what a plugin function registers is replaced by what its new version registers', async t => {
  const version = (n: number): string => plugin(`
    ${add('same', n)}
    ${add(`only${n}`, n)}
    app.mcp.resources.add(resource({ uri: 'a://b', name: 'b', read: () => '${n}' }))
    app.mcp.prompts.add(prompt({ name: 'p', get: () => '${n}' }))
    app.mcp.method('custom/m${n}', {}, () => ({ n: ${n} }))
    app.mcp.method('custom/same', {}, () => ({ n: ${n} }))
    app.mcp.notification('notifications/custom', {}, () => { globalThis.heard = ${n} })
    app.mcp.use(async (call, next) => { (globalThis.used ??= []).push(${n}); return await next() })
    app.mcp.onEnd(() => { globalThis.ended = ${n} })`)
  const folder = await watchedFolder(t, { 'a.ts': version(1) }, ['a.ts'])
  const seen = globalThis as unknown as { used: number[], ended: number, heard: number }
  const { client: { request, notifications } } = folder
  for (const n of [1, 2, 3]) {
    if (n > 1) {
      folder.save('a.ts', version(n))
      await folder.logged(/a\.ts was loaded/)
    }
    seen.used = []
    t.match(await request('tools/list'), { tools: [{ name: `only${n}` }, { name: 'same' }] })
    t.strictSame(seen.used, [n], 'the middleware of the present version')
    t.equal(seen.ended, n)
    t.equal(await folder.call('same'), String(n))
    t.match(await request('resources/read', { uri: 'a://b' }), { contents: [{ text: String(n) }] })
    t.match(await request('prompts/get', { name: 'p' }), { messages: [{ content: { text: String(n) } }] })
  }
  await until(() => notifications.length >= 6)
  t.strictSame(
    notifications.map(({ method }) => method).sort(),
    ['prompts', 'prompts', 'resources', 'resources', 'tools', 'tools'].map(kind => `notifications/${kind}/list_changed`)
  )
  folder.remove('a.ts')
  await folder.logged(/a\.ts is gone/)
  seen.used = []
  t.match(await request('tools/list'), { tools: [] })
  t.strictSame(seen.used, [])
})

t.test('a version that fails in the middle changes nothing', async t => {
  const folder = await watchedFolder(t, { 'a.ts': plugin(add('a', 1)) }, ['a.ts'])
  folder.save('a.ts', plugin(`${add('b', 2)}\napp.mcp.tools.remove('a')\nthrow new Error('no database')`))
  t.match(await folder.logged(/cannot be loaded/), /no database \(line 5\)/)
  t.equal(await folder.call('a'), '1')
  t.strictSame(folder.app.mcp.tools.names(), ['a'])
})

t.test('a method that another plugin has keeps the old code', async t => {
  const folder = await watchedFolder(
    t,
    { 'a.ts': plugin(add('a', 1)), 'b.ts': plugin("app.mcp.method('custom/taken', {}, () => ({}))") },
    ['.']
  )
  folder.save('a.ts', plugin(`${add('a', 2)}\napp.mcp.method('custom/taken', {}, () => ({}))`))
  t.match(await folder.logged(/cannot be loaded/), /method custom\/taken is registered already/)
  t.equal(await folder.call('a'), '1')
})

const PERMANENT: Array<[what: string, body: string, says: RegExp]> = [
  ['a route', "app.get('/x', async () => 'x')", /needs a restart: it adds a route/],
  ['a hook', "app.addHook('onRequest', async () => {})", /needs a restart: it adds the hook onRequest/],
  ['a decorator', "app.decorate('mine', 1)", /needs a restart: it adds a decorator/],
  ['a plugin', 'app.register(async () => {})', /needs a restart: it adds a plugin/],
  ['a member of app.mcp', "app.mcp.provide('mine', 1)", /needs a restart: it adds app\.mcp\.provide/]
]

for (const [what, body, says] of PERMANENT) {
  t.test(`a plugin that adds ${what} needs a restart, and keeps the old code`, async t => {
    const folder = await watchedFolder(t, { 'a.ts': plugin(`${add('a', 1)}\n${body}`), 'b.ts': plugin(add('b', 1)) }, [
      '.'
    ])
    folder.save('a.ts', plugin(`${add('a', 2)}\n${body}`))
    t.match(await folder.logged(/restart:/), says, 'where it had it')
    folder.save('b.ts', plugin(`${add('b', 2)}\n${body}`))
    t.match(await folder.logged(/restart:/), says, 'where it is new')
    t.strictSame([await folder.call('a'), await folder.call('b')], ['1', '1'])
  })
}

t.test(
  'onClose of the former version runs after the calls in flight, and that of the present one at shutdown',
  async t => {
    const seen = globalThis as unknown as { closed: number[], release: () => void, begun: () => void }
    seen.closed = []
    const version = (n: number): string =>
      plugin(`
    app.addHook('onClose', ${n === 1 ? '(app, done) => { globalThis.closed.push(1); done() }' : `async () => { globalThis.closed.push(${n}) }`})
    app.addHook('onReady', async () => { globalThis.ready = ${n} })
    app.mcp.tools.add(tool({ name: 'a', description: '', run: async () => { await new Promise(resolve => { globalThis.release = resolve; globalThis.begun() }); return globalThis.closed.join() } }))`)
    const folder = await watchedFolder(t, { 'a.ts': version(1) }, ['a.ts'])
    const begun = new Promise<void>(resolve => {
      seen.begun = resolve
    })
    const call = folder.call('a')
    await begun
    folder.save('a.ts', version(2))
    await folder.logged(/a\.ts was loaded/)
    t.equal((globalThis as unknown as { ready: number }).ready, 2)
    seen.release()
    t.equal(await call, '', 'not closed while the call ran')
    await folder.client.request('ping')
    t.strictSame(seen.closed, [1])
    await folder.app.close()
    t.strictSame(seen.closed, [1, 2])
  }
)

t.test(
  'a plugin with a callback, one of fastify-plugin, and a file that gets another kind of export are loaded anew',
  async t => {
    const folder = await watchedFolder(
      t,
      { 'a.ts': plugin(`${add('a', 1)}\ndone()`, 'export default function (app, options, done)') },
      ['a.ts']
    )
    t.equal(await folder.call('a'), '1')
    folder.save('a.ts', plugin(`${add('a', 2)}\nsetImmediate(done)`, 'export default function (app, options, done)'))
    await folder.logged(/was loaded/)
    t.equal(await folder.call('a'), '2')
    folder.save('a.ts', toolSource('a', '3'))
    await folder.logged(/was loaded/)
    t.equal(await folder.call('a'), '3')
    folder.save('a.ts', plugin(add('a', 4)))
    await folder.logged(/was loaded/)
    t.equal(await folder.call('a'), '4')
  }
)

t.test('what old code still registers after it was replaced is ignored', async t => {
  const folder = await watchedFolder(
    t,
    { 'a.ts': plugin(`globalThis.late = () => ${add('late', 1)}\n${add('a', 1)}`) },
    ['a.ts']
  )
  folder.save('a.ts', plugin(add('a', 2)))
  await folder.logged(/was loaded/)
  ;(globalThis as unknown as { late: () => void }).late()
  t.strictSame(folder.app.mcp.tools.names(), ['a'])
})

t.test('a plugin may add and remove tools later, and they go with it', async t => {
  const folder = await watchedFolder(
    t,
    { 'a.ts': plugin(`${add('a', 1)}\nglobalThis.more = () => ${add('more', 1)}`) },
    ['a.ts']
  )
  ;(globalThis as unknown as { more: () => void }).more()
  t.strictSame(folder.app.mcp.tools.names(), ['a', 'more'])
  folder.save('a.ts', plugin(add('a', 2)))
  await folder.logged(/was loaded/)
  t.strictSame(folder.app.mcp.tools.names(), ['a'])
})
