import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { readyStore, redisLink } from '../../support/environment/redis-commands.js'
import { freePort, redisServer, withRedis } from '../../support/environment/redis-server.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { until } from '../../support/wait.js'

const event = (text: string, method = 'm') => ({ text, method })

/** A name that leads to a primary, and can be made to lead to another. */
async function relay (t: Test, port: number) {
  const open = new Set<Socket>()
  let to = port
  const server = createServer(client => {
    const upstream = connect(to, '127.0.0.1')
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => {}).once('close', () => { open.delete(one); other.destroy() })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close(); for (const socket of open) socket.destroy() })
  const { port: own } = server.address() as AddressInfo
  return {
    port: own,
    url: `redis://127.0.0.1:${own}`,
    leadTo: (port: number) => { to = port; for (const socket of open) socket.destroy() }
  }
}

t.test('no number is given twice after a failover that lost writes, and what is missing cannot be resumed', withRedis, async t => {
  const primary = await redisServer(t)
  const replication = await relay(t, primary.port)
  const replica = await redisServer(t, { replicaof: `127.0.0.1 ${replication.port}`, 'repl-diskless-sync-delay': '0' })
  const [atPrimary, atReplica] = [await redisLink(t, primary.url), await redisLink(t, replica.url)]
  const name = await relay(t, primary.port)
  const [one, two] = [await readyStore(name.url, 'p:'), await readyStore(name.url, 'p:')]
  t.teardown(async () => await Promise.all([one, two].map(async store => await store.close())))
  const { sessions } = one
  await sessions.save('s', RECORD, TOMORROW)
  for (const stream of ['aa', 'bb', '0']) {
    await sessions.append('s', stream, event('kept'), true, { begins: 'interrupted' })
  }
  await until(async () => String(await atPrimary.command('WAIT', '1', '100')) === '1', 'the replica has everything')
  await until(async () => await atReplica.command('EXISTS', 'p:{s:s}:e') === 1, 'and its events')

  // From here on the replica gets nothing, and the primary acknowledges what is lost with it.
  replication.leadTo(await freePort())
  const given = new Map<string, number[]>()
  for (const stream of ['aa', 'bb', '0']) {
    const numbers: number[] = []
    for (const text of ['lost 1', 'lost 2']) {
      const appended = await sessions.append('s', stream, event(text), true, { last: numbers.at(-1) ?? 1 })
      if (typeof appended === 'object') numbers.push(appended.number)
    }
    t.equal(numbers.length, 2)
    given.set(stream, numbers)
  }
  await primary.kill()
  await until(
    async () => (await atReplica.command('REPLICAOF', 'NO', 'ONE').catch(() => '')) === 'OK',
    'the replica is promoted'
  )
  name.leadTo(replica.port)
  await until(async () => await sessions.load('s').catch(() => undefined) !== undefined, 'the new primary is used')

  for (const stream of ['aa', '0']) {
    const [, last = 0] = given.get(stream) ?? []
    t.equal(await sessions.read('s', stream, last), undefined, 'an event that is gone cannot be resumed from')
    const appended = await sessions.append('s', stream, event('after'), true, { last })
    t.match(appended, { after: last })
    t.ok(typeof appended === 'object' && appended.number > last, 'a number that is new')
    t.match(await sessions.read('s', stream, last), { events: [{ text: 'after' }] }, 'a client that got them goes on')
    t.equal(await sessions.read('s', stream, given.get(stream)?.[0] ?? 0), undefined)
    t.equal(await sessions.read('s', stream, 0), undefined, 'what is missing in between is not skipped')
  }
  // The node that finishes a reply does not know which numbers were given.
  await one.close()
  await two.sessions.finish('s')
  const replay = await two.sessions.read('s', 'bb', 1)
  t.match(replay, { events: [{ text: 'interrupted' }], ended: true })
  t.ok((replay?.events[0]?.number ?? 0) > 1_000_000, 'a number that no writer gave')
  for (const number of given.get('bb') ?? []) t.equal(await two.sessions.read('s', 'bb', number), undefined)
})
