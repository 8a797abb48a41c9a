import { EventEmitter, once } from 'node:events'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { tool, Type } from '../../app.js'
import { listening } from '../support/gateway.js'
import type { Json } from '../support/specification/message.js'
import { revisions } from '../support/specification/revisions.js'
import { openCell, type Chapter } from './cell.js'
import { local } from './transports.js'

/** Lets the works of this test end. */
const ends = new EventEmitter().setMaxListeners(0)

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(tool({
    name: 'work',
    description: 'Works until it is told to end',
    patience: 100,
    input: Type.Object({ name: Type.String() }),
    run: async ({ name }, { signal }) => {
      await once(ends, name, { signal })
      return { name }
    }
  }))
}

const ID = /patchbay:\/\/call\/([\w-]{22})/

const script: Record<string, Chapter> = {
  'answers a long call early, and gives its result later': async (t, { client, connect, revision }) => {
    const name = `${client.constructor.name} ${Math.random()}`
    const { result } = await client.call('work', { name })
    const content = result?.content as Json[]
    t.match(content, [
      { type: 'text', text: /^\[work still runs after / },
      revision.titles ? { type: 'resource_link', uri: ID } : { type: 'text', text: ID }
    ])
    const [, id = ''] = ID.exec(JSON.stringify(content)) ?? []
    t.match((await client.call('get_result', { id, wait: 0 })).result, { content: [{ text: /^\[work still runs, / }] })
    const waiting = client.call('get_result', { id })
    const other = await connect(t)
    t.match((await other.call('get_result', { id, wait: 0 })).result, { content: [{ text: /^\[work still runs, / }] })
    ends.emit(name)
    t.match((await waiting).result, { content: [{ text: JSON.stringify({ name }) }] })
    const { result: read } = await other.request('resources/read', { uri: `patchbay://call/${id}` })
    t.match((read as { contents: unknown }).contents, [{ text: /"status":"completed"/ }])
  },

  'ends a call that was answered early when its caller cancels it': async (t, { client }) => {
    const { result } = await client.call('work', { name: 'never' })
    const [, id = ''] = ID.exec(JSON.stringify(result)) ?? []
    t.match((await client.call('cancel_result', { id })).result, { content: [{ text: /was cancelled/ }] })
    t.match((await client.call('get_result', { id })).result, { isError: true })
    t.equal(ends.listenerCount('never'), 0)
  }
}

t.test('patience over every transport in every revision', async t => {
  t.setTimeout(120_000)
  const place = await listening(t, { tools: false, plugins: [own] })
  for (const transport of local) {
    for (const revision of revisions) {
      await t.test(`${transport.name} in ${revision.version}`, async t => {
        const cell = await openCell(t, place, transport, revision)
        for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, cell))
        t.strictSame(cell.faults, [], 'every message was in order')
      })
    }
  }
})
