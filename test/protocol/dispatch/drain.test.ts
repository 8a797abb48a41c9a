import { setImmediate as turn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { client, dispatcher, modern } from '../../support/recorder.js'
import { untilAborted } from '../../support/wait.js'

const Anything = Type.Object({})

t.test('calls in flight are answered before draining ends', async t => {
  const mcp = dispatcher()
  const finish: Array<() => void> = []
  mcp.method(
    'm',
    Anything,
    async () =>
      await new Promise<object>(resolve => {
        finish.push(() => resolve({ done: true }))
      })
  )
  const clients = [client(mcp), client(mcp), client(mcp)]
  for (const { ask } of clients) ask('m')
  const drained = mcp.lifecycle.drain(Infinity)
  await turn()
  for (const each of finish) each()
  await drained
  for (const { channel } of clients) {
    t.match(
      channel.sent.map(text => JSON.parse(text) as object),
      [{ id: 1, result: { done: true } }]
    )
  }
})

t.test('a request that is received during the drain is refused', async t => {
  const mcp = dispatcher()
  let finish = (): void => {}
  mcp.method('m', Anything, async () => await new Promise<object>(resolve => { finish = () => resolve({}) }))
  const early = client(mcp)
  early.ask('m')
  const drained = mcp.lifecycle.drain(Infinity)
  t.match(await early.request('m'), { id: 2, error: { code: -32603, message: 'The server is shutting down' } })
  t.match(await client(mcp).request('m', modern()), { error: { code: -32603 } }, 'from new clients too')
  finish()
  await drained
  t.equal(early.channel.sent.length, 2)
})

t.test('a call that takes longer than the grace period is answered with an error and aborted', async t => {
  const mcp = dispatcher({ limits: { grace: 30 } })
  let reason: unknown
  mcp.method('m', Anything, async (_params, { signal }) => {
    await untilAborted(signal).catch(() => { reason = signal.reason })
    return {}
  })
  const { ask, channel } = client(mcp)
  ask('m')
  await mcp.lifecycle.drain(Infinity)
  t.match(await channel.next(), { id: 1, error: { code: -32603, message: 'The server is shutting down' } })
  await turn()
  t.match(reason, { message: 'The server is shutting down' })
})

t.test('the grace is never longer than what is allowed', async t => {
  const mcp = dispatcher({ limits: { grace: 60_000 } })
  mcp.method('m', Anything, async () => await new Promise(() => {}))
  const { ask, channel } = client(mcp)
  ask('m')
  await mcp.lifecycle.drain(20)
  t.match(await channel.next(), { error: { code: -32603, message: 'The server is shutting down' } })
})

t.test('a handler that ignores everything does not hold the end up', async t => {
  const mcp = dispatcher({ limits: { grace: 20 } })
  mcp.method('m', Anything, async () => await new Promise(() => {}))
  const { ask, channel } = client(mcp)
  ask('m')
  await mcp.lifecycle.drain(Infinity)
  t.match(await channel.next(), { error: { code: -32603 } })
})

t.test('a question without an answer is given up at once', async t => {
  const mcp = dispatcher({ limits: { grace: 60_000 } })
  mcp.clientRequestKinds.add('ask/it', {
    needs: () => ({}),
    known: () => true,
    params: params => params,
    answer: answer => answer
  })
  mcp.method('m', Anything, async (_params, call) => await call.ask({ q: { method: 'ask/it', params: {} } }))
  const { ask, channel } = client(mcp)
  ask('m')
  t.match(await channel.next(), { method: 'ask/it' })
  await mcp.lifecycle.drain(Infinity)
  t.match(await channel.next(), { id: 1, error: { code: -32603, message: 'The server is shutting down' } })
})

t.test('a long-lived call is asked to end in order, and answers', async t => {
  const mcp = dispatcher()
  mcp.method('listen', Anything, async (_params, { peer }) => {
    await new Promise<void>(resolve => { peer.onDrain(resolve) })
    return { ended: true }
  }, { timed: false })
  const { ask, channel } = client(mcp)
  ask('listen')
  await mcp.lifecycle.drain(Infinity)
  t.match(await channel.next(), { id: 1, result: { ended: true } })
})

t.test('a client that disconnects during the drain does not delay its end', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, async () => await new Promise(() => {}))
  const { ask, peer } = client(mcp)
  ask('m')
  const drained = mcp.lifecycle.drain(Infinity)
  mcp.lifecycle.disconnect(peer, new Error('gone'))
  await drained
  t.equal(peer.inbound.size, 0)
})

t.test('draining with nothing in flight is over at once, twice as well', async t => {
  const mcp = dispatcher()
  client(mcp)
  await mcp.lifecycle.drain(Infinity)
  await mcp.lifecycle.drain(Infinity)
  t.equal(mcp.lifecycle.peers.size, 1)
})

t.test('a peer that is gone aborts its calls and answers none of them', async t => {
  const mcp = dispatcher()
  const reasons: unknown[] = []
  mcp.method('m', Anything, async (_params, { signal }) => {
    await untilAborted(signal).catch(() => { reasons.push(signal.reason) })
    return {}
  })
  const { ask, peer, channel } = client(mcp)
  ask('m')
  ask('m')
  const gone = new Error('the socket was closed')
  mcp.lifecycle.disconnect(peer, gone)
  await turn()
  t.strictSame(reasons, [gone, gone])
  t.strictSame(channel.sent, [])
  t.equal(channel.ends, 2, 'each channel learns that nothing follows')
  t.equal(mcp.lifecycle.peers.has(peer), false)
})

t.test('a listener of the end of a peer runs once', async t => {
  const mcp = dispatcher()
  const { peer } = client(mcp)
  let closed = 0
  peer.onClose(() => { closed++ })
  peer.onClose(() => t.fail('it was taken back'))()
  mcp.lifecycle.disconnect(peer, new Error('gone'))
  mcp.lifecycle.disconnect(peer, new Error('gone'))
  t.equal(closed, 1)
})

t.test('a request for a peer that is closed is answered, and nothing else is', async t => {
  const mcp = dispatcher()
  mcp.method('m', Anything, () => { throw new Error('it was carried out') })
  const { peer, channel } = client(mcp)
  mcp.lifecycle.disconnect(peer, new Error('gone'))
  const receive = (message: object) => mcp.receive(mcp.decode(JSON.stringify(message)), peer, channel)
  receive({ jsonrpc: '2.0', id: 7, method: 'm' })
  receive([{ jsonrpc: '2.0', id: 8, method: 'm' }, { jsonrpc: '2.0', method: 'n' }])
  const closed = {
    code: -32603,
    message: 'The session or connection was closed before the request was read; it was not carried out'
  }
  t.match(channel.sent.map(text => JSON.parse(text) as unknown), [{ id: 7, error: closed }, [{ id: 8, error: closed }]])
  receive({ jsonrpc: '2.0', method: 'n' })
  receive({ jsonrpc: '2.0', id: 1, result: {} })
  t.equal(channel.ends, 2, 'a notification and a response are taken')
})
