import t, { type Test } from 'tap'
import { createClient, tool } from '../../app.js'
import { gateway, listening } from '../support/gateway.js'
import { Connection, endpoints, LONG } from '../support/long-lists.js'

const add = (name: string) => tool({ name, description: 'd', run: () => '' })

/**
 * How many tools are read and how many are written for a hundred requests of the first page, and for one after a
 * change.
 */
async function cost (t: Test, tools: number): Promise<Record<string, number>> {
  const app = await gateway(t, { plugins: [], tools: false, pageSize: 100 })
  const counted = { read: 0, written: 0 }
  for (let index = 0; index < tools; index++) {
    const item = add(`tool_${String(index).padStart(5, '0')}`)
    const { listed } = item
    app.mcp.tools.add(Object.defineProperty(item, 'listed', { get: () => { counted.read++; return listed } }))
  }
  // What is read when a tool is registered does not count.
  counted.read = 0
  const clients = [await createClient(app), await createClient(app)]
  const { stringify } = JSON
  t.intercept(JSON, 'stringify', {
    value: (...args: Parameters<typeof stringify>) => {
      const text = stringify(...args)
      if (text?.includes('"inputSchema"')) counted.written++
      return text
    }
  })
  for (let round = 0; round < 50; round++) for (const client of clients) await client.request('tools/list')
  const before = { ...counted }
  app.mcp.tools.add(add('aaa'))
  for (const client of clients) await client.request('tools/list')
  return { ...before, readAgain: counted.read - before.read, writtenAgain: counted.written - before.written }
}

t.test('a page is serialised once for all clients and once after a change, however long the list is', async t => {
  const [short, long] = [await cost(t, 101), await cost(t, 5_000)]
  t.strictSame(short, { read: 100, written: 100, readAgain: 99, writtenAgain: 100 })
  t.strictSame(long, short)
})

t.test('a long list is encoded once per revision, and no reply copies or measures it', async t => {
  const { url } = await listening(t, LONG)
  const ways = Object.values(await endpoints(url))
  const long = { from: 0, byteLength: 0 }
  for (const way of ['from', 'byteLength'] as const) {
    const original = Buffer[way] as (...args: unknown[]) => unknown
    t.intercept(Buffer, way, {
      value: (...args: unknown[]) => {
        if (typeof args[0] === 'string' && args[0].length > 8_192) long[way]++
        return original.apply(Buffer, args)
      }
    })
  }
  const connection = new Connection(t, url)
  for (let round = 0; round < 10; round++) {
    for (const endpoint of ways) {
      connection.ask(endpoint, [round])
      await connection.next()
    }
  }
  connection.socket.destroy()
  t.ok(long.from >= 1 && long.from <= ways.length, `${long.from} times`)
  t.equal(long.byteLength, 0)
})
