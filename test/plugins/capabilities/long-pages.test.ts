import t from 'tap'
import { createClient, tool, type Client } from '../../../app.js'
import { gateway } from '../../support/gateway.js'

const MIB = 1024 * 1024
const NONE = { plugins: [], tools: false }

const described = (name: string, length: number) => tool({ name, description: 'é'.repeat(length / 2), run: () => '' })

interface Listed { tools: Array<{ name: string }>, nextCursor?: string }

async function pagesOf (client: Client): Promise<Array<{ names: string[], bytes: number }>> {
  const pages = []
  let cursor: string | undefined
  do {
    const page = await client.request('tools/list', cursor === undefined ? {} : { cursor }) as unknown as Listed
    pages.push({ names: page.tools.map(({ name }) => name), bytes: Buffer.byteLength(JSON.stringify(page.tools)) })
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return pages
}

t.test('the tools of many servers are on one page, for clients that never ask for a second', async t => {
  const app = await gateway(t, NONE)
  for (let index = 0; index < 826; index++) app.mcp.tools.add(described(`tool_${index}`, 2_000))
  for (const options of [{}, { identity: { principal: 'ada', scopes: new Set(['mcp']) } }]) {
    const pages = await pagesOf(await createClient(app, options))
    t.strictSame(pages.map(({ names }) => names.length), [826])
  }
})

t.test('a page ends where its entries take 4 MiB, one entry always fits, and each is listed once', async t => {
  const app = await gateway(t, NONE)
  const names = Array.from({ length: 20 }, (_, index) => `tool_${String(index).padStart(2, '0')}`)
  for (const name of names) app.mcp.tools.add(described(name, name === 'tool_07' ? 5 * MIB : MIB))
  for (const options of [{}, { identity: { principal: 'ada', scopes: new Set(['mcp']) } }]) {
    const pages = await pagesOf(await createClient(app, options))
    t.strictSame(pages.flatMap(page => page.names), names)
    t.strictSame(pages.filter(({ bytes }) => bytes > 4.1 * MIB).map(page => page.names), [['tool_07']])
    t.ok(pages.length <= 9, `${pages.length} pages`)
  }
})

t.test('the entries that callers of few scopes see are encoded once, not for each request', async t => {
  const app = await gateway(t, NONE)
  for (let index = 0; index < 300; index++) app.mcp.tools.add(described(`tool_${index}`, 100))
  const clients = await Promise.all(
    ['ada', 'bob'].map(
      async principal => await createClient(app, { identity: { principal, scopes: new Set(['mcp']) } })
    )
  )
  const { stringify } = JSON
  let written = 0
  t.intercept(JSON, 'stringify', {
    value: (...args: Parameters<typeof stringify>) => {
      const text = stringify(...args)
      if (text?.includes('"inputSchema"')) written++
      return text
    }
  })
  for (let round = 0; round < 10; round++) for (const client of clients) await client.request('tools/list')
  t.equal(written, 300)
})
