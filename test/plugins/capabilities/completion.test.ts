import t, { type Test } from 'tap'
import { createClient, prompt, resource } from '../../../app.js'
import { gateway } from '../../support/gateway.js'

async function completing (t: Test) {
  const app = await gateway(t, { http: false })
  app.mcp.prompts.add(
    prompt({
      name: 'trip',
      arguments: {
        country: { complete: typed => ['Italy', 'Iceland', 'France'].filter(name => name.startsWith(typed)) },
        city: {
          complete: async (typed, { country }) =>
            country === 'Italy' ? ['Rome', 'Ravenna'].filter(name => name.startsWith(typed)) : []
        },
        many: { complete: () => Array.from({ length: 250 }, (_, index) => String(index)) },
        plain: {},
        broken: {
          complete: () => {
            throw new Error('secret detail')
          }
        }
      },
      get: () => ''
    })
  )
  app.mcp.resources.add(
    resource({
      uri: 'trip://{country}/{+path}',
      name: 'trip',
      complete: { country: typed => [`${typed}!`] },
      read: () => ''
    })
  )
  const { request } = await createClient(app)
  const complete = async (ref: object, name: string, value: string, given?: object) =>
    (
      await request('completion/complete', {
        ref,
        argument: { name, value },
        ...(given === undefined ? {} : { context: { arguments: given } })
      })
    ).completion
  return { complete, request }
}

const TRIP = { type: 'ref/prompt', name: 'trip' }

t.test('suggestions come from the definition, for prompts and templates', async t => {
  const { complete } = await completing(t)
  t.strictSame(await complete(TRIP, 'country', 'I'), { values: ['Italy', 'Iceland'], total: 2, hasMore: false })
  t.strictSame(await complete({ type: 'ref/resource', uri: 'trip://{country}/{+path}' }, 'country', 'It'), {
    values: ['It!'],
    total: 1,
    hasMore: false
  })
})

t.test('other arguments that are known already count', async t => {
  const { complete } = await completing(t)
  t.strictSame(await complete(TRIP, 'city', 'R', { country: 'Italy' }), {
    values: ['Rome', 'Ravenna'],
    total: 2,
    hasMore: false
  })
  t.strictSame(await complete(TRIP, 'city', 'R'), { values: [], total: 0, hasMore: false })
})

t.test('at most a hundred values are sent, with a flag that there are more', async t => {
  const { complete } = await completing(t)
  const { values, ...rest } = await complete(TRIP, 'many', '') as { values: string[], total: number, hasMore: boolean }
  t.equal(values.length, 100)
  t.strictSame(rest, { total: 250, hasMore: true })
})

t.test('an argument without suggestions has none', async t => {
  const { complete } = await completing(t)
  t.strictSame(await complete(TRIP, 'plain', 'x'), { values: [], total: 0, hasMore: false })
  t.strictSame(await complete({ type: 'ref/resource', uri: 'trip://{country}/{+path}' }, 'path', 'x'), {
    values: [],
    total: 0,
    hasMore: false
  })
})

t.test('a completion for something that does not exist is refused by name', async t => {
  const { complete } = await completing(t)
  await t.rejects(complete(TRIP, 'planet', ''), { code: -32602, message: /planet/ })
  await t.rejects(complete(TRIP, '__proto__', ''), { code: -32602 })
  await t.rejects(complete({ type: 'ref/prompt', name: 'nowhere' }, 'x', ''), { code: -32602, message: /nowhere/ })
  await t.rejects(complete({ type: 'ref/resource', uri: 'test://text' }, 'x', ''), {
    code: -32602,
    message: /test:\/\/text/
  })
  await t.rejects(complete({ type: 'ref/tool', name: 'echo' }, 'x', ''), { code: -32602 })
})

t.test('a suggestion that fails is an internal error', async t => {
  const { complete } = await completing(t)
  await t.rejects(complete(TRIP, 'broken', ''), { code: -32603, message: /^Internal error/ })
})
