import t from 'tap'
import { inFrontOf } from '../support/upstreams.js'
import sharedFixture, { listening } from '../support/gateway.js'
import { textOf, type Json } from '../support/specification/message.js'
import { modern, newestLegacy, revisions, type Revision } from '../support/specification/revisions.js'
import { openFixture, type Way } from '../upstreams/fixture/open.js'
import { calls as relayedCalls } from '../upstreams/script/calls.js'
import { questions as relayedQuestions } from '../upstreams/script/questions.js'
import { runScript } from '../upstreams/script/run.js'
import { openCell, type Chapter } from './cell.js'
import fixture from './fixture.js'
import { calls } from './script/calls.js'
import { listAll } from './script/pagination.js'
import { questions } from './script/questions.js'
import { tasks } from './script/tasks.js'
import { tools } from './script/tools.js'
import { local } from './transports.js'

const views = { all: { search: { always: ['echo'] } } }

/** The tools that `find_tools` and `describe_tools` gave. */
const toolsIn = (result: Json | undefined): Json[] => (result?.structuredContent as { tools: Json[] }).tools

/** The script of a view with search. */
const script: Record<string, Chapter> = {
  'lists the tools by which others are found, and what is always listed': async (t, { client }) => {
    const listed = await listAll(client, 'tools/list', 'tools')
    t.strictSame(listed.map(({ name }) => name), ['call_tool', 'describe_tools', 'echo', 'find_tools'])
  },

  'finds tools, in text and where the revision knows it as structured content': async (t, { client, revision }) => {
    const { result } = await client.call('find_tools', { query: 'has everything a listed tool can have', limit: 1 })
    t.match(textOf({ result: result ?? {} }), /^decorated\(\) - Has everything/)
    if (revision.titles) t.match(toolsIn(result), [{ name: 'decorated', signature: /^decorated\(\)/ }])
    else t.notOk(result !== undefined && 'structuredContent' in result)
  },

  'describes a tool as the revision would list it': async (t, { client, connect }) => {
    const { result } = await client.call('describe_tools', { names: ['decorated'] })
    const shown = JSON.parse(textOf({ result: result ?? {} })) as Json
    const found = await client.call('find_tools', { query: 'decorated', limit: 1, detail: 'full' })
    t.strictSame(JSON.parse(textOf(found)), shown)
    const direct = await connect(t)
    t.equal(textOf(await direct.call('find_tools', { query: 'decorated', limit: 1, detail: 'names' })), 'decorated')
    t.equal(shown.name, 'decorated')
  },

  'calls what it finds, directly and by call_tool': async (t, { client }) => {
    for (const [name, args] of [['say', { level: 'info', text: 'a' }], ['echo', { text: 'é "1"' }]] as const) {
      const direct = await client.call(name, args)
      t.ok(direct.result, name)
      t.strictSame((await client.call('call_tool', { name, arguments: args })).result, direct.result)
    }
  },

  'answers for what does not exist by call_tool as for a direct call': async (t, { client }) => {
    const direct = await client.call('xyzzy')
    t.equal(direct.error?.code, -32602)
    const { id, ...indirect } = await client.call('call_tool', { name: 'xyzzy' })
    t.strictSame({ ...indirect, id: direct.id }, direct)
  },

  'refuses a call of call_tool by itself, in the way the revision has for it': async (t, { client, revision }) => {
    const nested = { name: 'echo', arguments: { text: 'a' } }
    const { result, error } = await client.call('call_tool', { name: 'call_tool', arguments: nested })
    if (revision.errorsAsResults) t.match(result, { isError: true, content: [{ text: /cannot call itself/ }] })
    else t.match(error, { code: -32602, message: /cannot call itself/ })
  }
}

t.test('one view with search over every transport in every revision', async t => {
  t.setTimeout(120_000)
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2, views })
  for (const transport of local) {
    for (const revision of revisions) {
      await t.test(`${transport.name} in ${revision.version}`, async t => {
        const cell = await openCell(t, { ...place, view: 'all' }, transport, revision)
        for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, cell))
        t.strictSame(cell.faults, [], 'every message was in order')
      })
    }
  }
})

/** The chapters in which tools are called, without those about lists and about calls that name no tool. */
const NOT_CALLED = [
  'lists of a tool only what the revision knows',
  'has invalid params for a tool that does not exist, or no name at all'
]
const direct = Object.fromEntries(
  Object.entries({ ...tools, ...calls, ...questions, ...tasks }).filter(([name]) => !NOT_CALLED.includes(name))
)

t.test('what calls do, they do by call_tool, over every transport in every revision', async t => {
  t.setTimeout(240_000)
  const place = await listening(t, { plugins: [sharedFixture, fixture], pageSize: 2, views })
  for (const transport of local) {
    for (const revision of revisions) {
      await t.test(`${transport.name} in ${revision.version}`, async t => {
        const cell = await openCell(t, { ...place, view: 'all' }, transport, revision, { indirect: true })
        for (const [name, chapter] of Object.entries(direct)) await t.test(name, async t => await chapter(t, cell))
        t.strictSame(cell.faults, [], 'every message was in order')
      })
    }
  }
})

const behind: Array<{ name: string, way: Way, revision: Revision }> = [
  { name: 'ls', way: 'stdio', revision: newestLegacy },
  { name: 'lh', way: 'HTTP', revision: newestLegacy },
  { name: 'ms', way: 'stdio', revision: modern },
  { name: 'mh', way: 'HTTP', revision: modern }
]

t.test('calls by call_tool reach servers of every era, and questions of these reach the client', async t => {
  t.setTimeout(240_000)
  const servers = await Promise.all(behind.map(async ({ name, way, revision }) =>
    ({ way, ...await openFixture(t, way, revision, name) })))
  const mcpServers = Object.fromEntries(servers.map(({ server, entry }) => [server.name, { ...entry, sampling: true }]))
  const place = { ...await inFrontOf(t, mcpServers, { views: { all: { search: true } } }), view: 'all' }
  for (const { way, server } of servers) {
    for (const transport of local.filter(({ streams }) => streams)) {
      for (const revision of [newestLegacy, modern]) {
        const pair = { transport, revision, way, server }
        await runScript(t, place, pair, { ...relayedCalls, ...relayedQuestions }, { indirect: true })
      }
    }
  }
})
