import t, { type Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import type { Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { bearer, listed } from '../support/keys.js'

type Json = Record<string, unknown>

const OP = 'pb_op-01234567890-0123456789-0123456789-012'
const CI = 'pb_ci-01234567890-0123456789-0123456789-012'
const OLD = 'pb_old-0123456789-0123456789-0123456789-012'
const VIEW = 'pb_view-012345678-0123456789-0123456789-012'

const open = async (t: Test, more: Partial<Options>): Promise<FastifyInstance> => await gateway(t, {
  apiKeys: [
    listed('op', OP, ['admin']),
    listed('ci', CI, ['mcp']),
    listed('old', OLD, ['mcp'], { expires: '2020-01-01T00:00:00Z' }),
    listed('bound', VIEW, ['mcp'], { view: 'small' })
  ],
  views: { small: { tools: ['slow'] } },
  ...more
})

async function ask (app: FastifyInstance, key: string, name: string): Promise<Json> {
  const reply = await app.inject({
    method: 'POST',
    url: '/message',
    headers: bearer(key),
    payload: { jsonrpc: '2.0', id: 1, method: 'patchbay/access', params: { name } }
  })
  const { result, error } = reply.json<{ result?: Json, error?: Json }>()
  return result ?? { error }
}

t.test('a caller hears what it may do with a tool, and nothing of rules, scopes and other callers', async t => {
  const app = await open(t, {
    rules: [
      { deny: ['boom'], for: { principal: ['ci'] } },
      { deny: ['echo'], where: { text: 'secret' }, name: 'no-secrets' },
      { ask: ['slow'], by: 'operator' },
      { ask: ['refuse'] }
    ]
  })
  t.strictSame(await ask(app, CI, 'echo'), { use: 'depends on arguments' })
  t.strictSame(await ask(app, CI, 'slow'), { use: 'asks an operator' })
  t.strictSame(await ask(app, CI, 'refuse'), { use: 'asks its user' })
  t.strictSame(await ask(app, CI, 'ask_name'), { use: 'allowed' })
  t.match(await ask(app, CI, 'boom'), { error: { code: -32602 } }, 'what is denied does not exist')
  t.match(await ask(app, CI, 'no-such'), { error: { code: -32602 } })
  t.strictSame(
    (await ask(app, CI, 'boom')).error,
    JSON.parse(JSON.stringify((await ask(app, CI, 'bomb')).error).replaceAll('bomb', 'boom')),
    'in the same words as what there is not'
  )
})

t.test('an operator hears why, and the same of each key, in its own view', async t => {
  const app = await open(t, {
    rules: [
      { deny: ['echo'], where: { text: 'secret' }, name: 'no-secrets' },
      { deny: ['echo'], for: { principal: ['ci'] } },
      { allow: ['refuse'], where: { a: 1 } }
    ],
    scopes: { 'tools/slow': ['special'] }
  })
  t.strictSame(await ask(app, OP, 'echo'), {
    use: 'depends on arguments',
    canonical: 'echo',
    scopes: ['mcp'],
    steps: [
      { rule: 'no-secrets', effect: 'deny', byArguments: true },
      { rule: 'rulesDefault', effect: 'allow' }
    ],
    keys: [
      {
        name: 'op',
        scopes: ['admin'],
        use: 'depends on arguments',
        steps: [
          { rule: 'no-secrets', effect: 'deny', byArguments: true },
          { rule: 'rulesDefault', effect: 'allow' }
        ]
      },
      {
        name: 'ci',
        scopes: ['mcp'],
        use: 'denied',
        steps: [{ rule: 'no-secrets', effect: 'deny', byArguments: true }, { rule: 'rules.1', effect: 'deny' }]
      },
      { name: 'old', scopes: ['mcp'], use: 'expired', steps: [] },
      { name: 'bound', scopes: ['mcp'], view: 'small', use: 'not in its view', steps: [] }
    ]
  })
  t.match(await ask(app, OP, 'refuse'), { use: 'allowed', steps: [{ byArguments: true }, {}] }, 'allowed in any case')
  const { keys, scopes } = await ask(app, OP, 'slow')
  t.strictSame(scopes, ['special'])
  t.match(keys, [{ name: 'op', use: 'allowed' }, { name: 'ci', use: 'needs scopes' }, {}, { use: 'needs scopes' }])
})
