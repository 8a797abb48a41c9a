import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/wait.js'
import { startRedis } from './cluster.js'
import { nodesScenario } from './harm.js'
import type { Outcome } from './tally.js'

const SECOND = 1_000

/** What sessions may get while Redis is away. */
const AWAY: Outcome[] = ['refused', 'failed', 'cut']

export const redisKill = nodesScenario({
  title: 'Redis is killed, and started again empty',
  defaults: { ms: 5_000 },
  allows: [...AWAY, 'gone'],
  losesEvents: true,
  run: async ({ redis }, { ms }) => {
    await redis.kill()
    await sleep(ms)
    await redis.start()
  }
})

export const redisAof = nodesScenario({
  title: 'Redis is killed, and started again with its append-only file',
  defaults: { ms: 5_000 },
  settings: { appendonly: 'yes', appendfsync: 'always' },
  allows: AWAY,
  losesEvents: true,
  run: async ({ redis }, { ms }) => {
    await redis.kill()
    await sleep(ms)
    await redis.start()
  }
})

export const redisStop = nodesScenario({
  title: 'Redis is stopped, and goes on',
  defaults: { ms: 10_000 },
  allows: AWAY,
  losesEvents: true,
  run: async ({ redis }, { ms }) => {
    redis.signal('SIGSTOP')
    await sleep(ms)
    redis.signal('SIGCONT')
  }
})

export const redisEmpty = nodesScenario({
  title: 'Redis is emptied',
  defaults: { times: 3 },
  allows: [...AWAY, 'gone'],
  losesEvents: true,
  run: async ({ redis }, { times }) => {
    for (let time = 0; time < times; time++) {
      await redis.send('FLUSHALL')
      await sleep(SECOND)
    }
  }
})

export const redisFull = nodesScenario({
  title: 'Redis has no memory left',
  defaults: { ms: 5_000 },
  allows: AWAY,
  losesEvents: true,
  run: async ({ redis }, { ms }) => {
    await redis.send('CONFIG SET maxmemory 1')
    await sleep(ms)
    await redis.send('CONFIG SET maxmemory 0')
  }
})

export const scripts = nodesScenario({
  title: 'Redis forgets its scripts each second',
  defaults: { times: 5 },
  run: async ({ redis }, { times }) => {
    for (let time = 0; time < times; time++) {
      await redis.send('SCRIPT FLUSH')
      await sleep(SECOND)
    }
  }
})

export const connections = nodesScenario({
  title: 'Redis ends all connections each second',
  defaults: { times: 5 },
  allows: AWAY,
  losesEvents: true,
  run: async ({ redis }, { times }) => {
    for (let time = 0; time < times; time++) {
      for (const type of ['normal', 'pubsub']) await redis.send(`CLIENT KILL TYPE ${type}`)
      await sleep(SECOND)
    }
  }
})

/** The replica is stopped for a while before the primary is killed, so it lacks the latest writes. */
export const failover = nodesScenario({
  title: 'a replica that lags is promoted',
  defaults: { lag: 2_000 },
  route: 'all',
  allows: [...AWAY, 'gone'],
  losesEvents: true,
  run: async ({ redis, relay }, { lag }) => {
    const replica = await startRedis()
    await replica.send(`REPLICAOF 127.0.0.1 ${redis.port}`)
    await until(async () => (await redis.send('WAIT 1 500').catch(() => '')) === ':1', 'the replica is up to date')
    await sleep(SECOND)
    await replica.send('REPLICAOF 127.0.0.1 1')
    await sleep(lag)
    await redis.kill()
    await replica.send('REPLICAOF NO ONE')
    relay.pointAt(replica.port)
  }
})
