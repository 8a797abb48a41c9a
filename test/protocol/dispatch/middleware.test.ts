import { Type } from '@sinclair/typebox'
import t from 'tap'
import { errors, McpError } from '../../../protocol/wire/errors.js'
import { client, dispatcher } from '../../support/recorder.js'

const Anything = Type.Object({})

t.test('the first middleware is the outermost, and the handler is inside all', async t => {
  const mcp = dispatcher()
  const steps: string[] = []
  for (const name of ['first', 'second', 'third']) {
    mcp.use(async (_call, next) => {
      steps.push(`${name} in`)
      const result = await next()
      steps.push(`${name} out`)
      return { ...result, [name]: true }
    })
  }
  mcp.method('m', Anything, () => { steps.push('handler'); return { handled: true } })
  t.strictSame((await client(mcp).request('m')).result, { handled: true, third: true, second: true, first: true })
  t.strictSame(steps, ['first in', 'second in', 'third in', 'handler', 'third out', 'second out', 'first out'])
})

t.test('a middleware that does not go on answers by itself, and nothing behind it runs', async t => {
  const mcp = dispatcher()
  mcp.use(async () => ({ cached: true }))
  mcp.use(async () => t.fail('the second middleware ran') as never)
  mcp.method('m', Type.Object({ n: Type.Integer() }), () => t.fail('the handler ran') as never)
  t.match(await client(mcp).request('m', { n: 'does not even fit' }), { result: { cached: true } })
})

t.test('a middleware that throws refuses the call', async t => {
  const mcp = dispatcher()
  mcp.use(async () => { throw new McpError(-32003, 'forbidden', { scope: 'admin' }) })
  mcp.method('m', Anything, () => t.fail('the handler ran') as never)
  t.match(await client(mcp).request('m'), { error: { code: -32003, message: 'forbidden', data: { scope: 'admin' } } })
})

t.test('a middleware may throw before it returns a promise', async t => {
  const mcp = dispatcher()
  mcp.use(() => { throw errors.invalidRequest('at once') })
  mcp.method('m', Anything, () => ({}))
  t.match(await client(mcp).request('m'), { error: { code: -32600, message: /at once/ } })
})

t.test('a middleware sees what the handler throws, and may answer instead', async t => {
  const mcp = dispatcher()
  mcp.use(async (_call, next) => {
    try {
      return await next()
    } catch (error) {
      return { rescued: (error as Error).message }
    }
  })
  mcp.method('m', Anything, () => { throw new Error('broken') })
  t.match(await client(mcp).request('m'), { result: { rescued: 'broken' } })
})

t.test('a middleware sees params that do not fit as the refusal they become', async t => {
  const mcp = dispatcher()
  const codes: number[] = []
  mcp.use(async (_call, next) => await next().catch((error: McpError) => { codes.push(error.code); throw error }))
  mcp.method('m', Type.Object({ n: Type.Integer() }), () => ({}))
  t.match(await client(mcp).request('m', { n: 'x' }), { error: { code: -32602 } })
  t.strictSame(codes, [-32602])
})

t.test('a middleware sees the caller and the method', async t => {
  const mcp = dispatcher()
  const seen: unknown[] = []
  mcp.use(async ({ method, id, params, principal, revision }, next) => {
    seen.push({ method, id, params, principal, version: revision.version })
    return await next()
  })
  mcp.method('m', Anything, () => ({}))
  await client(mcp, { identity: { principal: 'ada', scopes: 'all' } }).request('m', { a: 1 })
  t.strictSame(seen, [{ method: 'm', id: 1, params: { a: 1 }, principal: 'ada', version: '2025-06-18' }])
})

t.test('a middleware that is added later wraps later calls', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, () => ({}))
  const { request } = client(mcp)
  t.strictSame((await request('m')).result, {})
  mcp.use(async (_call, next) => ({ ...await next(), wrapped: true }))
  t.strictSame((await request('m')).result, { wrapped: true })
})

t.test('a middleware that forgets to return is an internal error, not silence', async t => {
  const mcp = dispatcher()
  mcp.use(async (_call, next) => { await next(); return undefined as never })
  mcp.method('m', Anything, () => ({}))
  t.match(await client(mcp).request('m'), { id: 1, error: { code: -32603 } })
})
