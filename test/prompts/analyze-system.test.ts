import t from 'tap'
import { createClient } from '../../app.js'
import type { Json } from '../support/modern.js'
import { gateway } from '../support/gateway.js'

const prompt = (text: string) => ({
  description: 'System analysis prompt',
  messages: [{ role: 'user', content: { type: 'text', text } }]
})

t.test('it is listed with its argument', async t => {
  const app = await gateway(t, { http: false })
  const { prompts } = (await (await createClient(app, { protocolVersion: '2024-11-05' })).request('prompts/list')) as {
    prompts: Json[]
  }
  t.strictSame(prompts.find(({ name }) => name === 'analyze_system'), {
    name: 'analyze_system',
    description: 'Analyze current system state',
    arguments: [{ name: 'focus', description: 'Area to focus on', required: false }]
  })
})

t.test('it asks for an analysis of an area, or of everything', async t => {
  const app = await gateway(t)
  const { request } = await createClient(app)
  const get = async (args?: object) =>
    await request('prompts/get', { name: 'analyze_system', ...(args === undefined ? {} : { arguments: args }) })
  t.strictSame(await get({ focus: 'network' }), prompt('Analyze the network configuration and identify any issues.'))
  for (const args of [undefined, {}, { focus: '' }]) {
    t.strictSame(await get(args), prompt('Analyze the current state of the system and identify any issues.'))
  }
  const { result } = (
    await app.inject({
      method: 'POST',
      url: '/message',
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'prompts/get',
        params: { name: 'analyze_system', arguments: { focus: 'network' } }
      }
    })
  ).json<{ result: object }>()
  t.strictSame(result, prompt('Analyze the network configuration and identify any issues.'))
})

t.test('it knows areas to focus on', async t => {
  const { request } = await createClient(await gateway(t, { http: false }))
  const complete = async (value: string) =>
    (
      await request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'analyze_system' },
        argument: { name: 'focus', value }
      })
    ).completion
  t.strictSame(await complete('n'), { values: ['network'], total: 1, hasMore: false })
  t.strictSame(await complete('S'), { values: ['security', 'services', 'storage'], total: 3, hasMore: false })
  t.match(await complete(''), {
    values: [
      'boot',
      'logging',
      'memory',
      'network',
      'performance',
      'processes',
      'security',
      'services',
      'storage',
      'users'
    ]
  })
  t.match(await complete('xyz'), { values: [] })
})
