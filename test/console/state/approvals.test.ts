import t from 'tap'
import { RpcError, type Client, type JsonObject } from '../../../console/client/contract.js'
import { clearEnded, decide, followProposals, forgetProposals, isOpen, proposals, unreadProposals } from '../../../console/state/approvals.js'
import { until } from '../../support/wait.js'

const row = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  digest: `digest of ${id}`,
  caller: 'ci',
  name: 'payments__pay',
  method: 'tools/call',
  rule: 'rules.0',
  arguments: { amount: 5 },
  at: 1_000,
  expires: 61_000,
  ...more
})

/** A gateway whose waiting calls are those of `rows`. */
function gatewayOf (t: { teardown: (run: () => void) => void }, isOperator = true) {
  const place = {
    rows: [] as unknown[],
    asked: [] as Array<[string, JsonObject]>,
    refuse: undefined as Error | undefined
  }
  let heard: (method: string, params: JsonObject) => void = () => {}
  const client: Client = {
    era: 'modern',
    server: {
      name: 's', version: '1', revision: 'r', capabilities: isOperator ? { extensions: { 'patchbay/watch': {} } } : {}
    },
    request: async (method, params = {}) => {
      place.asked.push([method, params])
      if (place.refuse !== undefined) throw place.refuse
      return method === 'patchbay/approvals' ? { approvals: [...place.rows] as never } : {}
    },
    onNotification: listener => { heard = listener; return () => { heard = () => {} } },
    subscribe: async () => () => {}
  }
  let number = 0
  t.teardown(forgetProposals)
  return Object.assign(place, {
    client,
    change: (...rows: unknown[]) => {
      place.rows = rows
      heard('notifications/patchbay/watch', { approvals: ++number, at: Date.now() })
    }
  })
}

const ids = (): string[] => proposals.value.map(({ proposal, ended }) => `${proposal.id}${ended === undefined ? '' : ' ended'}`)

t.test('calls that wait are read when the gateway says that they changed; what has gone stays in its place', async t => {
  const place = gatewayOf(t)
  place.rows = [row('a')]
  const end = followProposals(place.client)
  await until(() => ids().join() === 'a', 'the first')
  place.change(row('a'), row('b'))
  await until(() => ids().join() === 'a,b', 'the second')
  place.change(row('b'), row('c'))
  await until(() => ids().join() === 'a ended,b,c', 'the third')
  t.match(proposals.value[0]?.ended, /does not wait any more/)
  place.change(row('b'), row('c'), row('a', { at: 2_000 }))
  await until(() => ids().join() === 'a ended,b,c,a', 'the same call again')
  clearEnded(0)
  t.strictSame(ids(), ['b', 'c', 'a'])
  end()
  place.change()
  t.strictSame(ids(), ['b', 'c', 'a'], 'nothing is read after its end')
})

t.test('an answer names the digest of what was shown, and says what came of it', async t => {
  const place = gatewayOf(t)
  place.rows = [row('a'), row('b')]
  t.teardown(followProposals(place.client))
  await until(() => ids().length === 2, 'the calls')
  const [a, b] = proposals.value
  if (a === undefined || b === undefined) throw new Error('there are two')
  t.equal(await decide(place.client, a.proposal, 'approve'), 'You approved it.')
  t.strictSame(place.asked.at(-1), [
    'patchbay/approvals/decide',
    { id: 'a', decision: 'approve', digest: 'digest of a' }
  ])
  t.equal(isOpen(proposals.value[0] ?? a, 2_000), false)
  t.equal(isOpen(b, 2_000), true)
  t.equal(isOpen(b, 61_000), false, 'its time is over')
  place.change(row('a'), row('b'))
  await until(() => place.asked.filter(([method]) => method === 'patchbay/approvals').length === 2, 'a late list')
  await new Promise(resolve => { setImmediate(resolve) })
  t.strictSame(ids(), ['a ended', 'b'], 'a list that was read before the answer brings nothing back')
  place.refuse = new RpcError(-32602, 'no call of the id "b" waits')
  t.match(await decide(place.client, b.proposal, 'decline'), /^Nothing was decided. It does not wait any more/)
  place.refuse = new RpcError(-32602, 'this is a call of your own credential', { code: 'PATCHBAY_NOT_ALLOWED' })
  await t.rejects(decide(place.client, b.proposal, 'approve'), /your own credential/)
  place.refuse = new RpcError(-32603, 'the disk is full')
  await t.rejects(decide(place.client, b.proposal, 'decline'), /the disk is full/)
})

t.test('another call under the same id is another one: the shown one ends and cannot be answered for it', async t => {
  const place = gatewayOf(t)
  place.rows = [row('a')]
  t.teardown(followProposals(place.client))
  await until(() => ids().length === 1, 'the call')
  place.change(row('a', { digest: 'another', arguments: { amount: 5_000 } }))
  await until(() => ids().join() === 'a ended,a', 'the other call')
  t.match(proposals.value[1]?.proposal.arguments, /5000/)
})

t.test('what cannot be shown is left out, a failure is said, and callers without the scope ask for nothing', async t => {
  const place = gatewayOf(t)
  place.rows = [null, 3, { id: 'x' }, row('a', { message: 3 })]
  const end = followProposals(place.client)
  await until(() => ids().join() === 'a', 'the call')
  t.equal(proposals.value[0]?.proposal.message, undefined)
  place.refuse = new Error('no disk')
  place.change()
  await until(() => unreadProposals.value === 'no disk', 'the failure')
  end()
  const other = gatewayOf(t, false)
  followProposals(other.client)()
  t.strictSame(other.asked, [])
  t.strictSame(proposals.value, [])
})
