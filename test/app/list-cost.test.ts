import t, { type Test } from 'tap'
import { createClient, tool } from '../../app.js'
import { gateway } from '../helper.js'

const add = (name: string) => tool({ name, description: 'd', run: () => '' })

/** How many tools are read and how often something large is written for a hundred requests of the first page, and for one after a change. */
async function cost (t: Test, tools: number): Promise<Record<string, number>> {
  const app = await gateway(t, { plugins: [], tools: false })
  const counted = { read: 0, written: 0 }
  for (let index = 0; index < tools; index++) {
    const item = add(`tool_${String(index).padStart(5, '0')}`)
    const { listed } = item
    app.tools.add(Object.defineProperty(item, 'listed', { get: () => { counted.read++; return listed } }))
  }
  const clients = [await createClient(app), await createClient(app)]
  const { stringify } = JSON
  t.intercept(JSON, 'stringify', {
    value: (...args: Parameters<typeof stringify>) => {
      const text = stringify(...args)
      if (text?.length > 1_000) counted.written++
      return text
    }
  })
  for (let round = 0; round < 50; round++) for (const client of clients) await client.request('tools/list')
  const before = { ...counted }
  app.tools.add(add('aaa'))
  for (const client of clients) await client.request('tools/list')
  return { ...before, readAgain: counted.read - before.read, writtenAgain: counted.written - before.written }
}

t.test('a page is written once for everybody, once again after a change, and costs the same of a long list as of a short one', async t => {
  const [short, long] = [await cost(t, 101), await cost(t, 5_000)]
  t.strictSame(short, { read: 100, written: 1, readAgain: 99, writtenAgain: 1 })
  t.strictSame(long, short)
})
