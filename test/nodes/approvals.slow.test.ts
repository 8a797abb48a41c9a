import t from 'tap'
import { apiKeys, ADA, bearer, BOB } from '../support/keys.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { freePort, Gateway } from '../support/restarting.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>
interface Answer { result?: Json, error?: Json }

/** One request as plain JSON-RPC; undefined where the connection ends without an answer. */
async function ask ({ url }: Gateway, key: string, method: string, params: Json = {}): Promise<Answer | undefined> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  }).catch(() => undefined)
  return await response?.json().catch(() => undefined) as Answer | undefined
}

const count = async (node: Gateway): Promise<Answer | undefined> =>
  await ask(node, ADA, 'tools/call', { name: 'increment_counter', arguments: {} })
const counted = (answer: Answer | undefined): string => JSON.stringify(answer?.result)

t.test('a call that waits survives kill -9 of either of two nodes, and runs once or not at all', async t => {
  const data = await dataFolder(t)
  const env = {
    PATCHBAY_API_KEYS: JSON.stringify(apiKeys),
    PATCHBAY_RULES: JSON.stringify([{ ask: ['increment_counter'], by: 'operator', wait: 600_000 }])
  }
  const ports = [await freePort(), await freePort()] as const
  const nodes = ports.map(port => new Gateway(t, port, data, [], env)) as [Gateway, Gateway]
  await Promise.all(nodes.map(async node => await node.start()))
  const waiting = async (node: Gateway): Promise<Json[]> => {
    const { approvals = [] } = (await ask(node, BOB, 'patchbay/approvals'))?.result ?? {}
    return approvals as Json[]
  }

  for (const killed of [0, 1] as const) {
    const [dying, other] = [nodes[killed], nodes[1 - killed]] as [Gateway, Gateway]
    const lost = count(dying)
    await until(async () => (await waiting(other)).length === 1, 'the other node lists it')
    await dying.end('SIGKILL')
    t.equal(await lost, undefined, 'no answer')
    const [one] = await waiting(other)
    t.match((await ask(other, BOB, 'patchbay/approvals/decide', { id: one?.id, decision: 'approve', digest: one?.digest }))?.result, {})
    await dying.start()
    const calls = [count(dying), count(other), count(dying)]
    const first = await Promise.race(calls)
    t.match(counted(first), new RegExp(`"text":"[^"]*${killed + 1}[^"]*"`), 'it ran once, at the node that took it')
    await until(async () => (await waiting(other)).length === 1, 'the others wait for an approval of their own')
    const [again] = await waiting(other)
    await ask(dying, BOB, 'patchbay/approvals/decide', { id: again?.id, decision: 'decline' })
    const ends = await Promise.all(calls)
    t.equal(ends.filter(end => /declined this call/.test(counted(end))).length, 2)
    // The refusal is of this very call; other rules are another call.
    const rules = JSON.stringify([{ ask: ['increment_counter'], by: 'operator', wait: 600_000, name: `round-${killed}` }])
    for (const node of nodes) {
      node.env['PATCHBAY_RULES'] = rules
      await node.end('SIGTERM')
      await node.start()
    }
  }
})
