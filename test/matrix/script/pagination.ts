import type { Client } from '../client.js'
import type { Json } from '../../support/specification/message.js'
import type { Chapter } from '../cell.js'

const PAGE_SIZE = 2
const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates'
}

/** Everything in a list, page by page. */
export async function listAll (client: Client, method: string, member: string): Promise<Json[]> {
  return (await pages(client, method, member)).flat()
}

/** Lists come in pages, and a cursor is good for its own list only. */
export const pagination: Record<string, Chapter> = {
  'gives every entry exactly once, page by page': async (t, { client }) => {
    for (const [method, member] of Object.entries(LISTS)) {
      const all = await pages(client, method, member)
      const last = all.pop() ?? []
      t.ok(all.every(page => page.length === PAGE_SIZE), `every page of ${method} but the last is full`)
      t.ok(last.length > 0 && last.length <= PAGE_SIZE, `the last page of ${method} is not empty`)
      const keys = [...all.flat(), ...last].map(({ name, uri, uriTemplate }) => String(uri ?? uriTemplate ?? name))
      t.equal(new Set(keys).size, keys.length, `nothing is twice in ${method}`)
    }
    const names = (await listAll(client, 'tools/list', 'tools')).map(({ name }) => String(name))
    t.ok(['calculate', 'echo', 'every_block', 'meet', 'slow'].every(name => names.includes(name)))
  },

  'refuses a cursor that was not given for this list': async (t, { client }) => {
    const { result } = await client.request('tools/list', {})
    for (const method of Object.keys(LISTS)) {
      t.equal((await client.request(method, { cursor: 'nonsense' })).error?.code, -32602, method)
      if (method !== 'tools/list') {
        t.equal((await client.request(method, { cursor: result?.nextCursor })).error?.code, -32602, method)
      }
    }
    t.equal((await client.request('tools/list', { cursor: 7 })).error?.code, -32602)
  }
}

async function pages (client: Client, method: string, member: string): Promise<Json[][]> {
  const all: Json[][] = []
  let cursor: unknown
  do {
    const { result = {} } = await client.request(method, cursor === undefined ? undefined : { cursor })
    all.push(result[member] as Json[])
    cursor = result.nextCursor
  } while (cursor !== undefined)
  return all
}
