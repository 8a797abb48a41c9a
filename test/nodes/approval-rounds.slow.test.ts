import t, { type Test } from 'tap'
import { dataFolder } from '../support/environment/on-disk.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { apiKeys, ADA, bearer, BOB } from '../support/keys.js'
import { freePort, Gateway } from '../support/restarting.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>
interface Answer { result?: Json, error?: Json }

/** `APPROVAL_ROUNDS=1000 npm test -- nodes/approval-rounds` runs as many. Each tenth kills a node. */
const ROUNDS = Number(process.env['APPROVAL_ROUNDS'] ?? 20)

/** One request as plain JSON-RPC; undefined where the connection ends without an answer. */
async function ask ({ url }: Gateway, key: string, method: string, params: Json = {}): Promise<Answer | undefined> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  }).catch(() => undefined)
  return await response?.json().catch(() => undefined) as Answer | undefined
}

const increment = async (node: Gateway): Promise<string> =>
  JSON.stringify(await ask(node, ADA, 'tools/call', { name: 'increment_counter', arguments: {} })) ?? 'lost'

async function pair (t: Test): Promise<[Gateway, Gateway]> {
  const { url } = await redisServer(t)
  const env = {
    PATCHBAY_REDIS: url,
    PATCHBAY_API_KEYS: JSON.stringify(apiKeys),
    PATCHBAY_RATE: '100000',
    PATCHBAY_BURST: '100000',
    PATCHBAY_RULES: JSON.stringify([{ ask: ['increment_counter'], by: 'operator', wait: 600_000 }])
  }
  const data = await dataFolder(t)
  const ports = [await freePort(), await freePort()]
  const nodes = ports.map(port => new Gateway(t, port, data, [], env)) as [Gateway, Gateway]
  await Promise.all(nodes.map(async node => await node.start()))
  return nodes
}

const waiting = async (node: Gateway): Promise<Json | undefined> => {
  const { approvals = [] } = (await ask(node, BOB, 'patchbay/approvals'))?.result ?? {}
  return (approvals as Json[])[0]
}

async function counted (node: Gateway): Promise<number> {
  const { contents } = (await ask(node, BOB, 'resources/read', { uri: 'server://counter' }))?.result ?? {}
  return Number(/-?\d+/.exec(String((contents as Array<{ text: string }>)[0]?.text))?.[0])
}

const approve = async (node: Gateway, { id, digest }: Json): Promise<boolean> =>
  (await ask(node, BOB, 'patchbay/approvals/decide', { id, decision: 'approve', digest }))?.result !== undefined

/** Approves at a node whatever waits there, until a call has ended. */
async function approveUntilEnd (node: Gateway, answer: Promise<string>): Promise<void> {
  let isOver = false
  const ended = answer.then(() => { isOver = true })
  await until(async () => {
    const one = isOver ? undefined : await waiting(node)
    if (one !== undefined) await approve(node, one)
    return isOver
  }, 'the call has ended')
  await ended
}

t.test(`one call, two nodes, two approvers at once, and kills: it runs once or not at all, ${ROUNDS} times`, withRedis, async t => {
  t.setTimeout(3_600_000)
  const nodes = await pair(t)
  const seen = { kills: 0, ran: 0, 'not run': 0, 'answered before': 0 }
  let total = await counted(nodes[0])
  for (let round = 1; round <= ROUNDS; round++) {
    const at = round % 2
    const [here, there] = [nodes[at], nodes[1 - at]] as [Gateway, Gateway]
    const answer = increment(here)
    let one: Json | undefined
    await until(async () => (one = await waiting(there)) !== undefined, `round ${round} waits`)
    const isKilled = round % 10 === 0
    const dying = round % 20 === 0 ? here : there
    const approved = Promise.all([here, there].map(async node => await approve(node, one ?? {})))
    // At another moment each time: before the answers, between them, or after the call.
    if (isKilled) {
      for (let requests = round / 10 % 7; requests > 0; requests--) await counted(dying === here ? there : here)
      await dying.end('SIGKILL')
    }
    const taken = (await approved).filter(Boolean).length
    t.ok(taken <= 1, `round ${round}: one approver at most`)
    if (!isKilled) {
      t.equal(taken, 1)
      t.match(await answer, new RegExp(`"text":"[^"]*${total + 1}`), `round ${round}`)
      total += 1
      continue
    }
    seen.kills++
    const living = dying === here ? there : here
    if (dying === there) {
      // The approval may have been lost with its node: then the call still waits.
      await approveUntilEnd(living, answer)
    } else if (await answer !== 'lost') seen['answered before']++
    const after = await counted(living)
    t.ok(after === total || after === total + 1, `round ${round}: ${total} became ${after}`)
    seen[after === total ? 'not run' : 'ran']++
    if (dying === there) t.equal(after, total + 1, 'a call at the node that lives ran')
    await approveUntilEnd(living, increment(living))
    total = after + 1
    t.equal(await counted(living), total, `round ${round}: the next call ran once`)
    await dying.start()
    t.equal(await waiting(dying), undefined, 'nothing is left')
  }
  t.equal(await counted(nodes[1]), total)
  t.comment(JSON.stringify(seen))
})
