import t, { type Test } from 'tap'
import { createClient, tool, type Client } from '../../../app.js'
import { gateway } from '../../support/gateway.js'

const NAMES = Array.from({ length: 25 }, (_, index) => `tool_${String(index).padStart(2, '0')}`)

async function paged (t: Test, pageSize = 10) {
  const app = await gateway(t, {
    tools: false,
    pageSize,
    plugins: [
      async ({ mcp: { tools } }) => {
        for (const name of NAMES) tools.add(tool({ name, description: 'd', run: () => name }))
      }
    ]
  })
  return { app, client: await createClient(app) }
}

async function page (
  { request }: Client,
  cursor?: string
): Promise<{ names: string[], nextCursor: string | undefined }> {
  const { tools, nextCursor } = (await request('tools/list', cursor === undefined ? {} : { cursor })) as {
    tools: Array<{ name: string }>
    nextCursor?: string
  }
  return { names: tools.map(({ name }) => name), nextCursor }
}

async function all (client: Client, between: (page: number) => void = () => {}): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | undefined
  for (let number = 1; ; number++) {
    const { names, nextCursor } = await page(client, cursor)
    seen.push(...names)
    if (nextCursor === undefined) return seen
    cursor = nextCursor
    between(number)
  }
}

t.test('the pages together are the whole list, each entry once and in order', async t => {
  for (const size of [1, 7, 25, 100]) t.strictSame(await all((await paged(t, size)).client), NAMES)
})

t.test('a page has as many entries as it may', async t => {
  const { client } = await paged(t)
  const first = await page(client)
  t.equal(first.names.length, 10)
  const second = await page(client, first.nextCursor)
  t.equal(second.names.length, 10)
  t.strictSame((await page(client, second.nextCursor)), { names: NAMES.slice(20), nextCursor: undefined })
})

t.test('changes between pages neither repeat nor hide what stays', async t => {
  const { app, client } = await paged(t)
  const seen = await all(client, number => {
    app.mcp.tools.remove(NAMES[number * 10 - 1] as string)
    app.mcp.tools.add(tool({ name: `added_${number}`, description: 'd', run: () => '' }))
  })
  t.strictSame(seen, NAMES)
})

t.test('a cursor reveals no names and can be used again', async t => {
  const { client } = await paged(t)
  const { nextCursor } = await page(client)
  t.notMatch(Buffer.from(nextCursor as string, 'base64url').toString('latin1'), /tool_/)
  t.strictSame(await page(client, nextCursor), await page(client, nextCursor))
})

t.test('a cursor that was changed, made up, or given for another list is refused', async t => {
  const { client } = await paged(t)
  const { nextCursor = '' } = await page(client)
  for (const cursor of ['', 'x', nextCursor.slice(1), `${nextCursor}A`, nextCursor.toLowerCase()]) {
    await t.rejects(page(client, cursor), { code: -32602, message: /cursor/ })
  }
  await t.rejects(client.request('prompts/list', { cursor: nextCursor }), { code: -32602, message: /cursor/ })
  await t.rejects(client.request('tools/list', { cursor: 7 }), { code: -32602, message: /cursor/ })
})

t.test('a cursor is understood by every instance that shares the secret, and by no other', async t => {
  const secret = 'shared between instances'
  const plugins = [
    async ({ mcp: { tools } }: { mcp: { tools: { add: (item: ReturnType<typeof tool>) => void } } }) => {
      for (const name of NAMES) tools.add(tool({ name, description: 'd', run: () => name }))
    }
  ]
  const [one, two, three] = await Promise.all(
    [secret, secret, 'another secret, much longer'].map(
      async secret => await createClient(await gateway(t, { tools: false, pageSize: 10, plugins, secret }))
    )
  )
  const { nextCursor } = await page(one as Client)
  t.strictSame((await page(two as Client, nextCursor)).names, NAMES.slice(10, 20))
  await t.rejects(page(three as Client, nextCursor), { code: -32602 })
})

t.test('each list has its pages in the form of each revision', async t => {
  const { app } = await paged(t)
  for (const [protocolVersion, keys] of [
    ['2024-11-05', ['nextCursor', 'tools']],
    ['2025-11-25', ['nextCursor', 'tools']]
  ] as const) {
    const { request } = await createClient(app, { protocolVersion })
    t.strictSame(Object.keys(await request('tools/list')).sort(), keys)
  }
  const { request } = await createClient(app)
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    t.notOk('nextCursor' in (await request(method)), method)
  }
})
