import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { tool, Type } from '../../app.js'
import { listening } from '../support/gateway.js'
import type { Json } from '../support/specification/message.js'
import { revisions } from '../support/specification/revisions.js'
import { openCell, type Chapter } from './cell.js'
import { listAll } from './script/pagination.js'
import { local } from './transports.js'

const LONG = Array.from({ length: 1_000 }, (_, index) => `line ${index} 😀`).join('\n')
const ITEMS = { items: [{ id: 1, body: 'x' }, { id: 2, body: 'y' }] }

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(tool({ name: 'long', description: 'Long', run: () => LONG }))
  mcp.tools.add(tool({ name: 'items', description: 'Items', output: Type.Object({}), run: () => ITEMS }))
}

const views = { small: { results: { max: 2_000 } }, ids: { results: { select: '{ids: items[].id}' } } }

const TEMPLATE = 'patchbay://result/{id}{?offset,length}'

const ID = /patchbay:\/\/result\/([\w-]{22})/

const script: Record<string, Chapter> = {
  'shortens a long result, and serves the whole': async (t, { client, revision }) => {
    const { result } = await client.call('long')
    const content = result?.content as Array<Json & { text: string }>
    t.ok((content[0]?.text.length ?? 0) <= 2_000)
    t.match(content[0]?.text, /^line 0 [^]*line 999 😀$/)
    t.match(content[1], revision.titles ? { type: 'resource_link', uri: ID } : { type: 'text', text: ID })
    const [, id = ''] = ID.exec(content[0]?.text ?? '') ?? []
    const read = async (rest: string): Promise<Json> =>
      await client.request('resources/read', { uri: `patchbay://result/${rest}` }) as Json
    t.match(await read(id), { result: { contents: [{ text: LONG }] } })
    t.match(await read(`${id}?offset=3&length=4`), { result: { contents: [{ text: LONG.slice(3, 7) }] } })
    t.match((await client.call('read_result', { id, offset: 3, length: 4 })).result, {
      content: [{ text: LONG.slice(3, 7) }, { text: /Go on with offset 7/ }]
    })
    t.ok((await read('A'.repeat(22))).error)
  },

  'lists what reads it, and no output schema': async (t, { client }) => {
    const tools = await listAll(client, 'tools/list', 'tools')
    t.strictSame(tools.map(({ name }) => name), ['items', 'long', 'read_result'])
    t.strictSame(tools.filter(({ outputSchema }) => outputSchema !== undefined), [])
    t.match(await listAll(client, 'resources/templates/list', 'resourceTemplates'), [{ uriTemplate: TEMPLATE }])
  }
}

t.test('small results over every transport in every revision', async t => {
  t.setTimeout(120_000)
  const place = await listening(t, { tools: false, plugins: [own], views })
  for (const transport of local) {
    for (const revision of revisions) {
      await t.test(`${transport.name} in ${revision.version}`, async t => {
        const cell = await openCell(t, { ...place, view: 'small' }, transport, revision)
        for (const [name, chapter] of Object.entries(script)) await t.test(name, async t => await chapter(t, cell))
        const { client } = await openCell(t, { ...place, view: 'ids' }, transport, revision)
        const { result } = await client.call('items')
        t.strictSame(JSON.parse((result?.content as Array<{ text: string }>)[0]?.text ?? ''), { ids: [1, 2] })
        t.strictSame(result?.structuredContent, revision.titles ? { ids: [1, 2] } : undefined)
        t.strictSame(cell.faults, [], 'every message was in order')
      })
    }
  }
})
