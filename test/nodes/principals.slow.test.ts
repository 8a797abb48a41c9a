import t from 'tap'
import { callOf, messages, onSharedRedis, onSharedStores, pairOf, type Node } from '../support/environment/nodes.js'
import { openStream } from '../support/event-reader.js'
import { listening } from '../support/gateway.js'
import { HttpSession, post, slow, type Posted } from '../support/http-session.js'
import { ADA, apiKeys, bearer, BOB, ping } from '../support/keys.js'

const HELLO = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' }
  }
}

const initialize = async ({ url }: Node, key: string): Promise<Posted> => await post(url, HELLO, bearer(key))
const open = async (node: Node, key: string) =>
  new KeySession(node.url, (await initialize(node, key)).headers.get('mcp-session-id') ?? '', key)

/** A session of the owner of a key. */
class KeySession extends HttpSession {
  readonly key: string

  constructor (url: string, id: string, key: string) {
    super(url, id)
    this.key = key
  }

  override get headers (): Record<string, string> {
    return { ...super.headers, ...bearer(this.key) }
  }

  at ({ url }: Node, key = this.key): KeySession {
    return new KeySession(url, this.id, key)
  }
}

onSharedStores(t, (t, share) => {
  t.test('a caller has no more sessions than allowed at all nodes together', async t => {
    const [one, two] = await pairOf(t, { ...await share(t), apiKeys, limits: { maxSessionsPerPrincipal: 2 } })
    const [first] = [await open(one, ADA), await open(two, ADA)]
    for (const node of [one, two]) {
      const { status, headers, body } = await initialize(node, ADA)
      t.equal(status, 429)
      t.equal(headers.get('mcp-session-id'), null)
      t.match(body, { id: 0, error: { message: /maxSessionsPerPrincipal/ } })
      t.equal((await openStream(`${node.url}/mcp/sse`, { headers: bearer(ADA) })).response.status, 429)
    }
    t.strictSame([one, two].map(({ app }) => app.mcp.sessions.size), [1, 1], 'what was refused is not there')
    t.equal((await initialize(two, BOB)).status, 200)
    t.equal(await first.end(), 200)
    t.equal((await initialize(two, ADA)).status, 200)
    t.equal((await initialize(one, ADA)).status, 429)
  })

  t.test('a session of one caller is for others as if there were none, at every node', async t => {
    const [one, two] = await pairOf(t, { ...await share(t), apiKeys })
    const session = await open(one, ADA)
    for (const node of [one, two, one]) {
      const none = await new KeySession(node.url, 'none', BOB).post(ping)
      const others = await session.at(node, BOB).post(ping)
      t.strictSame([others.status, others.body], [none.status, none.body])
      t.equal(none.status, 404)
      t.equal((await session.at(node, BOB).listen()).response.status, 404)
      t.equal(await session.at(node, BOB).end(), 404)
      t.equal((await session.at(node).post(ping)).status, 200)
    }
  })

  t.test('an answer or a cancellation concerns only the session and the caller that it is of', async t => {
    const [one, two] = await pairOf(t, { ...await share(t), apiKeys })
    const [ada, again, bob] = [await open(one, ADA), await open(two, ADA), await open(two, BOB)]
    const call = await ada.stream(callOf(7, 'ask_name'))
    const { id } = await call.message()
    const { self = '' } = one.app.mcp.store.nodes
    const running = await again.at(one).stream(slow(7, 100_000, 20))
    await running.message()
    const forged = [
      id,
      `${self}-999`,
      `${self}-${'9'.repeat(10_000)}`,
      '0123456789ab-1',
      `${two.app.mcp.store.nodes.self ?? ''}-1`,
      'x'.repeat(10_000),
      1,
      `${self}-1 `
    ]
    for (const name of forged) {
      const expected = String(name).length > 1_000 ? 400 : 202
      for (const from of [again, bob]) {
        t.equal(
          (await from.post({ id: name, result: { action: 'accept', content: { name: 'Mallory' } } })).status,
          expected
        )
      }
    }
    for (const requestId of [7, '7', String(id)]) {
      await bob.post({ method: 'notifications/cancelled', params: { requestId } })
    }
    await ada.at(two).post({ method: 'notifications/cancelled', params: { requestId: '7' } })
    await ada.at(two).post({ id, result: { action: 'accept', content: { name: 'Ada' } } })
    t.match((await messages(call)).at(-1), { id: 7, result: { content: [{ text: /Ada/ }] } })
    await ada.at(two).post({ method: 'notifications/cancelled', params: { requestId: 7 } })
    t.match(await running.message(), { method: 'notifications/progress' })
    await again.post({ method: 'notifications/cancelled', params: { requestId: 7 } })
    t.ok(
      (await messages(running)).every(({ method }) => method === 'notifications/progress'),
      'the call ends without a response'
    )
  })
})

onSharedRedis(t, (t, share) => {
  t.test('a ticket that is shown at three nodes at once lets in one', async t => {
    const options = { ...await share(t), apiKeys }
    const nodes = [...await pairOf(t, options), await listening(t, options)]
    for (const { url } of nodes) {
      const issued = await fetch(`${url}/ticket`, { method: 'POST', headers: bearer(ADA) })
      const { ticket } = await issued.json() as { ticket: string }
      const streams = await Promise.all(
        nodes.map(async node => await openStream(`${node.url}/mcp/sse?ticket=${ticket}`))
      )
      t.strictSame(streams.map(({ response }) => response.status).sort(), [200, 401, 401])
      for (const stream of streams) stream.drop()
    }
  })
})
