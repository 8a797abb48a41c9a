import { createRequire } from 'node:module'
import { Type } from '@sinclair/typebox'
import type { Ajv } from 'ajv'
import t from 'tap'
import { createClient, tool } from '../../app.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { gateway } from '../support/gateway.js'
import { callTool } from '../support/modern.js'

const { default: Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as { default: typeof Ajv }

t.test('with a thousand tools', async t => {
  const touched = new Map<string, number>()
  const app = await gateway(t, { pageSize: 100 })
  for (let index = 0; index < 1_000; index++) {
    app.mcp.tools.add(
      watched(
        tool({
          name: `tool_${index}`,
          description: 'd',
          input: Type.Object({ n: Type.Number() }),
          run: ({ n }) => ({ n })
        }),
        touched
      )
    )
  }
  const client = await createClient(app)
  const call = async (name: string, n: unknown) => await client.request('tools/call', { name, arguments: { n } })
  // What is done once is done now.
  await callTool(app, 'tool_0', { n: 1 })
  await call('tool_0', 1)

  t.test('a call touches its own tool only, and not what is listed of it', async t => {
    touched.clear()
    t.match(await call('tool_500', 1), { structuredContent: { n: 1 } })
    t.match(await callTool(app, 'tool_500', { n: 1 }), { result: { structuredContent: { n: 1 } } })
    const keys = [...touched.keys()]
    t.strictSame(keys.filter(key => !key.startsWith('tool_500.')), [], 'no other tool was looked at')
    t.notOk(keys.includes('tool_500.listed'))
    t.equal(touched.get('tool_500.run'), 2)
  })

  t.test('a call compiles no schema that was compiled before', async t => {
    let compiled = 0
    const { compile } = Ajv2020.prototype
    t.intercept(Ajv2020.prototype, 'compile', {
      value: function (this: Ajv, ...args: Parameters<Ajv['compile']>) {
        compiled++
        return compile.apply(this, args)
      }
    })
    app.mcp.tools.add(
      tool({ name: 'compiled', description: 'd', input: Type.Object({}, { not: { required: ['x'] } }), run: () => '' })
    )
    t.equal(compiled, 1, 'the counter counts')
    await call('tool_7', 'wrong')
    const once = compiled
    t.ok(once <= 2, 'at most the words for what is refused, the first time')
    for (let round = 0; round < 5; round++) {
      await call('tool_7', round)
      await call('tool_7', 'wrong')
      await callTool(app, 'tool_7', { n: round })
    }
    t.equal(compiled, once)
  })

  t.test('a page of a list is written once, and again only after a change', async t => {
    touched.clear()
    const listed = (): number =>
      [...touched].filter(([key]) => key.endsWith('.listed')).reduce((sum, [, count]) => sum + count, 0)
    for (let round = 0; round < 5; round++) await client.request('tools/list')
    const once = listed()
    t.ok(once > 0 && once <= 100, `${once} of the thousand were read for a page of 100`)
    app.mcp.tools.add(tool({ name: 'a_new_one', description: 'd', run: () => '' }))
    await client.request('tools/list')
    t.ok(listed() > once)
  })
})

function watched (item: Tool, touched: Map<string, number>): Tool {
  return new Proxy(item, {
    get: (target, key) => {
      touched.set(`${target.name}.${String(key)}`, (touched.get(`${target.name}.${String(key)}`) ?? 0) + 1)
      return Reflect.get(target, key) as unknown
    }
  })
}
