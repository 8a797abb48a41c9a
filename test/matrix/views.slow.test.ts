import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { tool } from '../../app.js'
import sharedFixture, { listening } from '../support/gateway.js'
import { modern, newestLegacy, revisions } from '../support/specification/revisions.js'
import { openCell, unique, type Chapter } from './cell.js'
import fixture from './fixture.js'
import { listAll } from './script/pagination.js'
import { local, transports } from './transports.js'

const views = {
  some: {
    tools: ['echo', 'dec*', 'later_*'],
    exclude: ['*_blocks'],
    resources: ['test://text'],
    prompts: ['introduce']
  },
  whole: {}
}

const TOOLS = ['decorated', 'echo']

/** The script of a view: what is in it works as without it, and what is outside is as unknown as what nothing has. */
const script: Record<string, Chapter> = {
  'lists exactly what is in the view, page by page': async (t, { client }) => {
    const keys = async (method: string, member: string): Promise<unknown[]> =>
      (await listAll(client, method, member)).map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name)
    t.strictSame(await keys('tools/list', 'tools'), TOOLS)
    t.strictSame(await keys('resources/list', 'resources'), ['test://text'])
    t.strictSame(await keys('resources/templates/list', 'resourceTemplates'), [])
    t.strictSame(await keys('prompts/list', 'prompts'), ['introduce'])
  },

  'serves what is in the view': async (t, { client }) => {
    t.match((await client.call('echo', { text: 'hello' })).result, { content: [{ text: 'hello' }] })
    t.match((await client.request('resources/read', { uri: 'test://text' })).result, { contents: [{ text: 'hello' }] })
    t.match((await client.request('prompts/get', { name: 'introduce', arguments: { who: 'Ada' } })).result, {
      messages: [{ content: { text: 'Introduce Ada.' } }]
    })
    t.match(
      (
        await client.request('completion/complete', {
          ref: { type: 'ref/prompt', name: 'introduce' },
          argument: { name: 'who', value: 'A' }
        })
      ).result,
      { completion: { values: ['Ada', 'Alan'] } }
    )
  },

  'answers for what is outside as for what does not exist': async (t, { client }) => {
    const failure = async (method: string, params: Record<string, unknown>, name: string): Promise<string> =>
      JSON.stringify((await client.request(method, params)).error).replaceAll(name, 'NAME')
    for (const [method, key, outside, missing] of [
      ['tools/call', 'name', 'slow', 'xyzzy'],
      ['prompts/get', 'name', 'greeting', 'xyzzy'],
      ['resources/read', 'uri', 'test://bytes', 'test://xyzzy'],
      ['resources/read', 'uri', 'test://item/one', 'test://xyzzy/one']
    ] as const) {
      t.equal(
        await failure(method, { [key]: outside }, outside),
        await failure(method, { [key]: missing }, missing),
        `${method} ${outside}`
      )
    }
  }
}

t.test('one view over every transport in every revision', async t => {
  t.setTimeout(120_000)
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2, views })
  for (const transport of local) {
    for (const revision of revisions) {
      await t.test(`${transport.name} in ${revision.version}`, async t => {
        const cell = await openCell(t, { ...place, view: 'some' }, transport, revision)
        for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, cell))
        t.strictSame(cell.faults, [], 'every message was in order')
      })
    }
  }
})

t.test('a process that is launched with --view serves the view', async t => {
  const process = transports.find(({ costly }) => costly)
  if (process === undefined) throw new Error('there is no such transport')
  for (const revision of [newestLegacy, modern]) {
    await t.test(revision.version, async t => {
      globalThis.process.env['PATCHBAY_VIEWS'] = JSON.stringify(views)
      t.teardown(() => {
        delete globalThis.process.env['PATCHBAY_VIEWS']
      })
      const cell = await openCell(t, { url: '', view: 'some' }, process, revision)
      for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, cell))
    })
  }
})

t.test('clients of a view hear of a change in it, and of no other, in every revision that streams', async t => {
  const place = await listening(t, { plugins: [sharedFixture, fixture], views })
  // Changes of the start are announced in the next turn.
  await setImmediate()
  for (const transport of local.filter(({ streams, remembers }) => streams && remembers)) {
    await t.test(transport.name, async t => {
      const { client } = await openCell(t, { ...place, view: 'some' }, transport, newestLegacy)
      place.app.mcp.tools.add(tool({ name: unique('outside'), description: '', run: () => '' }))
      await setImmediate()
      await client.request('ping', {})
      t.strictSame(
        client.notifications.empty().filter(({ method }) => method === 'notifications/tools/list_changed'),
        []
      )
      const name = unique('later')
      place.app.mcp.tools.add(tool({ name, description: '', run: () => '' }))
      await client.notified('notifications/tools/list_changed')
      place.app.mcp.tools.remove(name)
    })
  }
})

t.test('a listener on a view hears of what is in it, and of nothing else', async t => {
  const place = await listening(t, { plugins: [sharedFixture, fixture], views })
  await setImmediate()
  for (const transport of local.filter(({ streams }) => streams)) {
    await t.test(transport.name, async t => {
      const { client, faults } = await openCell(t, { ...place, view: 'some' }, transport, modern)
      const wanted = { toolsListChanged: true, resourceSubscriptions: ['test://text', 'test://bytes', 'test://xyzzy'] }
      const listener = client.start('subscriptions/listen', { notifications: wanted })
      const { notifications } = await client.notified('notifications/subscriptions/acknowledged')
      t.strictSame(
        notifications,
        { ...wanted, resourceSubscriptions: ['test://text'] },
        'as if the other was not there'
      )
      const outside = unique('outside')
      place.app.mcp.tools.add(tool({ name: outside, description: '', run: () => '' }))
      place.app.mcp.resources.updated('test://bytes')
      await setImmediate()
      const later = unique('later')
      place.app.mcp.tools.add(tool({ name: later, description: '', run: () => '' }))
      const heard = [(await client.notifications.take('the first notification')).method]
      place.app.mcp.resources.updated('test://text')
      t.match(await client.notified('notifications/resources/updated'), { uri: 'test://text' })
      t.strictSame(heard, ['notifications/tools/list_changed'])
      t.strictSame(client.notifications.empty(), [])
      listener.cancel()
      for (const name of [outside, later]) place.app.mcp.tools.remove(name)
      t.strictSame(faults, [])
    })
  }
})
