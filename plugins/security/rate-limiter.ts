import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import { Bucket } from '../../system/rate/bucket.js'
import type { Rate } from '../../system/rate/bucket.js'
import { limiter, loadCounters } from '../../system/rate/limiter.js'
import { connectRedis } from '../../system/redis/link.js'

declare module '../core/mcp.js' {
  interface Mcp {
    rateLimiter: {
      /** Takes one call from what its caller may make: 0, or the milliseconds until there are more. */
      take: (identity: Identity) => number | Promise<number>
      /** Limits calls by these rates from now on. What was counted for a rate that stays is kept. */
      replace: (rates: Pick<RatesOptions, 'rate' | 'burst' | 'toolRates'>) => void
    }
  }
}

export interface RatesOptions { rate: number, burst: number, toolRates: Record<string, number>, redis?: string }

/** Whoever started this process. */
const LOCAL = 'local'

/** How many calls a caller may make, in all and to single tools. What came as an HTTP request was counted when it came. */
export default fp(async (fastify, { rate, burst, toolRates, redis }: RatesOptions) => {
  const link = redis === undefined ? undefined : await connectRedis(redis, trouble)
  /** By what they count and how much of it: those of rates that stay are used again. */
  let buckets = new Map<string, Bucket>()
  let callers: Bucket
  let tools: Map<unknown, Bucket>
  open({ rate, burst, toolRates })

  fastify.mcp.provide('rateLimiter', { take: identity => callers.take(callerOf(identity)), replace: open })

  fastify.mcp.dispatcher.gate(call => {
    const { peer, channel, identity, method, params } = call
    if (peer.transport === 'memory' && identity === ANONYMOUS_ALL_SCOPES) return
    const tool = method === 'tools/call' ? tools.get(params.name) : undefined
    const passed = channel.counted === true ? undefined : pass(callers.take(callerOf(identity)), 'by one caller (option rate)')
    return tool === undefined ? passed : passTool(call, tool, passed)
  })

  // Before clients can use the file descriptors up; a start over stdio loads it with the first call that is counted.
  fastify.addHook('onListen', async () => { loadCounters().catch(() => {}) })

  fastify.addHook('onClose', async () => {
    for (const each of buckets.values()) each.close()
    link?.close()
  })

  function open ({ rate, burst, toolRates }: Pick<RatesOptions, 'rate' | 'burst' | 'toolRates'>): void {
    const before = buckets
    buckets = new Map()
    callers = bucket({ name: 'calls', rate, burst }, before)
    tools = new Map(Object.entries(toolRates).map(([name, rate]) => [name, bucket({ name: `tool:${name}`, rate, burst: rate }, before)]))
    for (const [key, each] of before) if (!buckets.has(key)) each.close()
  }

  function bucket (one: Rate, before: Map<string, Bucket>): Bucket {
    const key = JSON.stringify(one)
    const made = before.get(key) ?? new Bucket(limiter(one, link), one.rate)
    buckets.set(key, made)
    return made
  }

  function trouble (why: string | undefined, error?: Error): void {
    const said = why === undefined ? undefined : `Redis ${why}: calls are counted by this gateway alone`
    fastify.mcp.health.report('rate limits', said)
    if (said === undefined) fastify.log.info('Redis is there: calls are counted together')
    else fastify.log.warn({ err: error }, said)
  }
}, { name: 'patchbay-rate-limiter', dependencies: ['patchbay-mcp', 'patchbay-health'] })

/** An address is never taken for the name of somebody. */
function callerOf (identity: Identity): string {
  if (identity.principal === undefined) return identity.address ?? LOCAL
  const known = names.get(identity)
  if (known !== undefined) return known
  const name = `principal ${identity.principal}`
  names.set(identity, name)
  return name
}

const names = new WeakMap<Identity, string>()

function pass (wait: number | Promise<number>, what: string): Promise<void> | undefined {
  if (typeof wait !== 'number') return wait.then(ms => refuseIf(ms, what))
  refuseIf(wait, what)
}

function passTool (call: Call, tool: Bucket, passed: Promise<void> | undefined): Promise<void> | undefined {
  const next = () => pass(tool.take(callerOf(call.identity)), `to ${String(call.params['name'])} by one caller (option toolRates)`)
  return passed === undefined ? next() : passed.then(next)
}

function refuseIf (ms: number, what: string): void {
  if (ms > 0) throw errors.tooFast(what, Math.ceil(ms / 1000))
}
