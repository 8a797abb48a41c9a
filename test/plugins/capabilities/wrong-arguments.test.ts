import { Type } from '@sinclair/typebox'
import t from 'tap'
import * as z from 'zod'
import { tool } from '../../../app.js'
import { cpuTime } from '../../support/timing.js'
import { gateway } from '../../support/gateway.js'
import { Speaker } from '../../support/speaker.js'
import type { Json } from '../../support/recorder.js'

const order = tool({
  name: 'order',
  description: 'Orders things',
  input: Type.Object(
    {
      a: Type.Number(),
      b: Type.Number(),
      size: Type.Union([Type.Literal('s'), Type.Literal('l')]),
      lines: Type.Array(Type.Object({ 'x/y': Type.Integer() }))
    },
    { additionalProperties: false }
  ),
  run: () => 'ordered'
})

const zodOrder = tool({
  name: 'zod_order',
  description: 'Orders things',
  input: z.object({
    mail: z.string().refine(text => text.includes('@'), 'needs an @'),
    list: z.array(z.string().refine(text => text !== '', 'is empty'))
  }),
  run: () => 'ordered'
})

const wide = tool({
  name: 'wide',
  description: 'Takes many numbers',
  input: Type.Object({ numbers: Type.Record(Type.String(), Type.Array(Type.Integer())) }),
  run: () => 'ordered'
})

t.test('all wrong arguments are named in the text, and with their paths in the data', async t => {
  const speaker = await serving(t, '2025-06-18')
  const { error } = await speaker.tool('order', { size: 's', lines: [{ 'x/y': 1 }, { 'x/y': 'two' }], extra: 1 })
  t.match(error, { code: -32602, message: /"a" is missing.*"b" is missing/s })
  t.match(error.message, /lines\.1\.x\/y must be integer/)
  t.match(error.message, /must NOT have additional properties: "extra"/)
  const found = Object.fromEntries(
    (error.data.errors as Array<{ path: string, message: string }>).map(({ path, message }) => [path, message])
  )
  t.match(found, {
    '/a': 'is missing',
    '/b': 'is missing',
    '/lines/1/x~1y': 'must be integer',
    '': /additional properties: "extra"/
  })
  t.equal(error.data.details, error.message.replace('Invalid params: ', ''))
})

t.test('a result that reports wrong arguments has their paths as well', async t => {
  const { result } = await (await serving(t, '2025-11-25')).tool('order', { a: 1, b: '2', size: 's', lines: [] })
  t.match(result, {
    isError: true,
    _meta: {
      'patchbay/error': { code: 'PATCHBAY_WRONG_ARGUMENTS', errors: [{ path: '/b', message: 'must be number' }] }
    }
  })
})

t.test('the issues of a Zod schema are named in the same way', async t => {
  const { error } = await (await serving(t, '2025-06-18')).tool('zod_order', { mail: 'none', list: ['', 'a', ''] })
  t.strictSame(error.data.errors, [
    { path: '/mail', message: 'needs an @' },
    { path: '/list/0', message: 'is empty' },
    { path: '/list/2', message: 'is empty' }
  ])
  t.match(error.message, /mail: needs an @; list\.0: is empty; list\.2: is empty/)
})

t.test('twenty mistakes are listed, and the rest is counted', async t => {
  const { error } = await (
    await serving(t, '2025-06-18')
  ).tool('wide', { numbers: { a: Array.from({ length: 50 }, () => 'x') } })
  t.equal((error.data.errors as unknown[]).length, 20)
  t.match(error.message, /; and 30 more$/)
})

t.test('the mistakes of large arguments cost no more than their size, and a reply stays short', async t => {
  const many: Json = { numbers: { a: Array.from({ length: 90_000 }, () => 'x') } }
  const longKey: Json = { numbers: { ['k'.repeat(1_000_000)]: Array.from({ length: 900 }, () => 'x') } }
  for (const input of [many, longKey]) {
    let found: unknown[] = []
    const ms = cpuTime(() => { found = [wide.checkInput(input), wide.findMistakes?.(input)] })
    t.match(found, [/must be integer/, [{ message: 'must be integer' }]])
    t.ok(JSON.stringify(found).length < 2_000)
    t.ok(ms < 500, `${ms} ms`)
  }
})

async function serving (t: Parameters<typeof gateway>[0], version: string): Promise<Speaker> {
  const app = await gateway(t)
  for (const item of [order, zodOrder, wide]) app.mcp.tools.add(item)
  return new Speaker(app, { version })
}
