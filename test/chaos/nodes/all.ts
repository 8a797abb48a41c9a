import type { Scenario } from '../../support/report.js'
import { answers } from './answers.js'
import { calm, cutOff, kill, stop } from './node-harms.js'
import { connections, failover, redisAof, redisEmpty, redisFull, redisKill, redisStop, scripts } from './redis-harms.js'

/** What is done to several nodes and their Redis, for `npm run chaos -- nodes [NAME...]`. */
export const nodes: Record<string, Scenario> = {
  answers,
  calm,
  kill,
  stop,
  'cut-off': cutOff,
  'redis-kill': redisKill,
  'redis-aof': redisAof,
  'redis-stop': redisStop,
  'redis-empty': redisEmpty,
  'redis-full': redisFull,
  scripts,
  connections,
  failover
}
