import t from 'tap'
import { openFixture } from '../upstreams/fixture/open.js'
import { answers, capabilities } from '../upstreams/script/questions.js'
import sharedFixture from '../support/gateway.js'
import { textOf, type Json } from '../support/specification/message.js'
import { modern, newestLegacy, revisions } from '../support/specification/revisions.js'
import { inFrontOf } from '../support/upstreams.js'
import { until } from '../support/wait.js'
import { openCell, unique, type Chapter } from './cell.js'
import { Client } from './client.js'
import { listAll } from './script/pagination.js'
import { local } from './transports.js'

const SECRET = 'a-value-of-the-operator'

/** In the entry of the server, by its own names. */
const ofServer = {
  echo: { name: 'repeat', arguments: { text: { name: 'words', description: 'What to repeat' } } },
  reflect: { arguments: { token: { value: SECRET }, limit: { default: 50 } } }
}

/** In the view, by canonical names. */
const ofView = {
  up__echo: { title: 'Repeats', arguments: { text: { name: 'phrase' } } },
  up__reflect: { name: 'mirror', description: 'Shows what arrived' },
  echo: { name: 'say_again', arguments: { text: { name: 'phrase' } } },
  slow: { name: 'one_step', arguments: { steps: { value: 1 } } },
  ask_name: { name: 'who' }
}

const views = { some: { tools: ['up__echo', 'up__reflect', 'echo', 'slow', 'ask_name'], override: ofView } }

/** The script of an override: tools are listed, called, refused and asked under the names of the view. */
const script: Record<string, Chapter> = {
  'lists tools as the view says': async (t, { client, revision }) => {
    const tools = await listAll(client, 'tools/list', 'tools')
    t.strictSame(tools.map(({ name }) => name), ['mirror', 'one_step', 'say_again', 'up__repeat', 'who'])
    const [mirror, step, again, repeat] = tools as [Json, Json, Json, Json]
    t.match(mirror, { description: 'Shows what arrived' })
    t.notMatch(JSON.stringify(step), /steps"/)
    t.match(again.inputSchema, { properties: { phrase: { type: 'string' } }, required: ['phrase'] })
    t.match(repeat, {
      ...(revision.titles ? { title: 'Repeats' } : {}),
      inputSchema: { properties: { phrase: { description: 'What to repeat' } }, required: ['phrase'] }
    })
    t.notMatch(JSON.stringify(tools), SECRET)
  },

  'takes arguments back to those of the tool': async (t, { client }) => {
    t.equal(textOf(await client.call('up__repeat', { phrase: 'é' })), 'é')
    t.equal(textOf(await client.call('up__echo', { phrase: 'long name' })), 'long name')
    t.equal(textOf(await client.call('say_again', { phrase: 'here' })), 'here')
    t.equal(textOf(await client.call('one_step', { delay: 1 })), '1 steps')
    const { params } = JSON.parse(textOf(await client.call('mirror', { a: 1 }))) as { params: Json }
    t.match(params, { name: 'reflect', arguments: { token: SECRET, limit: 50, a: 1 } })
  },

  'refuses what callers do not have': async (t, { client, revision }) => {
    for (const [name, given] of [['mirror', { token: 'x' }], ['one_step', { steps: 2 }]] as const) {
      t.match((await client.call(name, given)).error, { code: -32602, data: { code: 'PATCHBAY_FIXED_ARGUMENT' } }, name)
    }
    t.match((await client.call('up__repeat', { text: 'x' })).error, { code: -32602, message: /did you mean "phrase"/ })
    const wrong = await client.call('say_again', { phrase: 3 })
    const told = revision.errorsAsResults ? textOf(wrong) : wrong.error?.message ?? ''
    t.match(told, /arguments of say_again: phrase must be string/, 'a mistake has the name that the caller knows')
  },

  'asks the client in the middle of a call': async (t, { client, transport, revision }) => {
    if (!revision.elicitation || (!revision.modern && !transport.streams)) return
    t.equal(textOf(await client.call('who')), 'Hello, Ada!')
  }
}

t.test('one overridden tool over every transport in every revision', async t => {
  t.setTimeout(120_000)
  const { entry } = await openFixture(t, 'stdio', newestLegacy, 'up')
  const servers = { up: { ...entry, override: ofServer } }
  const place = await inFrontOf(t, servers, { plugins: [sharedFixture], pageSize: 2, views })
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

t.test('questions of an overridden tool find the client in every pair of eras', async t => {
  t.setTimeout(120_000)
  const args = { state: { value: 'long' }, elsewhere: { name: 'where' } }
  const override = { ask_with_state: { name: 'ask_me', arguments: args } }
  const servers = await Promise.all([
    openFixture(t, 'stdio', newestLegacy, 'ls'),
    openFixture(t, 'HTTP', newestLegacy, 'lh'),
    openFixture(t, 'stdio', modern, 'ms'),
    openFixture(t, 'HTTP', modern, 'mh')
  ])
  const entries = servers.map(({ server, entry }) => [server.name, { ...entry, override }] as const)
  const own = Object.fromEntries(
    servers.map(({ server: { name } }) => [`${name}__ask_with_state`, { name: `${name}_asks` }])
  )
  const place = await inFrontOf(t, Object.fromEntries(entries), { views: { asking: { override: own } } })
  for (const transport of local.filter(({ streams }) => streams)) {
    for (const revision of [newestLegacy, modern]) {
      for (const { server } of servers) {
        await t.test(`${transport.name}, client of ${revision.version}, server ${server.name}`, async t => {
          const faults: string[] = []
          const ways = [
            { ...place, name: `${server.name}__ask_me` },
            { ...place, view: 'asking', name: `${server.name}_asks` }
          ]
          for (const { name, ...where } of ways) {
            const client = await Client.open(where, transport, revision, { capabilities, answers, faults })
            t.teardown(async () => await client.close())
            t.strictSame(JSON.parse(textOf(await client.call(name))), [{ action: 'accept', content: { name: 'Ada' } }])
            t.equal(client.asked.length, 1)
          }
          t.strictSame(faults, [], 'every message was in order')
        })
      }
    }
  }
})

t.test('what belongs to a call of a renamed tool arrives at both ends, in every pair of eras', async t => {
  t.setTimeout(120_000)
  const ofServer = {
    steps: { name: 'paces' },
    region: { arguments: { region: { name: 'area' } } },
    reflect: { arguments: { token: { value: SECRET } } }
  }
  const servers = await Promise.all([
    openFixture(t, 'stdio', newestLegacy, 'ls'),
    openFixture(t, 'HTTP', newestLegacy, 'lh'),
    openFixture(t, 'stdio', modern, 'ms'),
    openFixture(t, 'HTTP', modern, 'mh')
  ])
  const ofView = ({ server: { name } }: typeof servers[number]): Array<[string, object]> => [
    [`${name}__steps`, { name: `${name}_walk` }],
    [`${name}__odd`, { name: `${name}_strange` }],
    [`${name}__hang`, { name: `${name}_wait` }],
    [`${name}__region`, { name: `${name}_where`, arguments: { region: { name: 'place' } } }],
    [`${name}__reflect`, { name: `${name}_mirror` }]
  ]
  const place = await inFrontOf(
    t,
    Object.fromEntries(servers.map(({ server, entry }) => [server.name, { ...entry, override: ofServer }])),
    { views: { renamed: { override: Object.fromEntries(servers.flatMap(ofView)) } } }
  )
  for (const transport of local.filter(({ streams }) => streams)) {
    for (const revision of [newestLegacy, modern]) {
      for (const { server } of servers) {
        await t.test(`${transport.name}, client of ${revision.version}, server ${server.name}`, async t => {
          const { name, log } = server
          const faults: string[] = []
          const options = { capabilities, answers, faults }
          const client = await Client.open({ ...place, view: 'renamed' }, transport, revision, options)
          t.teardown(async () => await client.close())
          const progressToken = unique('token')
          t.equal(textOf(await client.call(`${name}_walk`, {}, { _meta: { progressToken } })), '3 steps')
          const progress = client.notifications.empty().filter(({ method }) => method === 'notifications/progress')
          t.match(progress, [1, 2, 3].map(step => ({ params: { progressToken, progress: step, total: 3 } })))
          const { result } = await client.call(`${name}_strange`)
          // The server does not keep to the schema, and what it sends is passed on as it is.
          faults.length = 0
          const link = (result?.content as Json[]).find(({ type }) => type === 'resource_link')
          const { uri } = link as { uri: string }
          const { result: read } = await client.request('resources/read', { uri })
          t.match(read, { contents: [{ text: 'the text of linked' }] })
          const placed = await client.call(`${name}_where`, { place: 'nörth' })
          // A stateless client of HTTP has to mirror arguments itself, and this one does not.
          if (name === 'mh' && placed.error !== undefined) t.match(placed.error, { message: /Mcp-Param-Region/i })
          else if (name === 'mh') t.match(textOf(placed), /^=\?base64\?/, 'the argument is in its header')
          const arrived = JSON.parse(textOf(await client.call(`${name}_mirror`))) as { params: Json, headers: Json }
          const { params, headers } = arrived
          t.match(params, { name: 'reflect', arguments: { token: SECRET } })
          if (name === 'mh') t.equal(headers['mcp-name'], 'reflect')
          const key = unique('hang')
          const hanging = client.start('tools/call', { name: `${name}_wait`, arguments: { key } })
          await until(() => server.hanging.has(key), 'the call at the server')
          hanging.cancel()
          await until(() => server.cancelled.has(key), 'the cancellation at the server')
          t.strictSame(faults, [], 'every message to the client was in order')
          t.strictSame(log.faults.splice(0), [], 'and every message to the server, its headers included')
        })
      }
    }
  }
})
