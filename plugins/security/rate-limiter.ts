import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import { Bucket } from '../../system/rate/bucket.js'
import type { Rate } from '../../system/rate/bucket.js'
import { limiter, loadCounters } from '../../system/rate/limiter.js'
import { connectRedis } from '../../system/redis/connection.js'

declare module '../core/mcp.js' {
  interface Mcp {
    rateLimiter: {
      /** Counts one call of a caller: 0 when it is within the rate, or the milliseconds until the next call is. */
      take: (identity: Identity) => number | Promise<number>
      /** Limits calls by these rates from now on. The counts of a rate that stays the same are kept. */
      replace: (rates: Pick<RateOptions, 'rate' | 'burst' | 'toolRates'>) => void
    }
  }
}

/** Without `rate`, only the calls to the tools in `toolRates` are counted; without `burst`, it is twice the rate. */
export interface RateOptions {
  rate?: number | undefined
  burst?: number | undefined
  toolRates: Record<string, number>
  redis?: string
  redisPrefix?: string
}

/** The name by which calls of the stdio client are counted. */
const LOCAL = 'local'

/** Limits the calls of a caller, in all and to single tools. A call in an HTTP request was counted with the request. */
export default fp(async (fastify, { rate, burst, toolRates, redis, redisPrefix }: RateOptions) => {
  const link = redis === undefined ? undefined : await connectRedis(redis, reportRedis)
  /** By rate, as JSON: the bucket of a rate that stays is used again. */
  let buckets = new Map<string, Bucket>()
  let callers: Bucket | undefined
  let tools: Map<unknown, Bucket>
  replaceRates({ rate, burst, toolRates })

  fastify.mcp.provide('rateLimiter', {
    take: identity => callers?.take(callerOf(identity)) ?? 0,
    replace: replaceRates
  })

  fastify.mcp.dispatcher.gate(call => {
    const { peer, channel, identity, method } = call
    if (peer.transport === 'memory' && identity === ANONYMOUS_ALL_SCOPES) return
    const tool = method === 'tools/call' && tools.size > 0 ? tools.get(nameOf(call)) : undefined
    const checked =
      channel.isRateCounted === true || callers === undefined
        ? undefined
        : check(callers.take(callerOf(identity)), 'rate', 'by one caller (option rate)')
    return tool === undefined ? checked : checkTool(call, tool, checked)
  })

  // Loading needs file descriptors, which clients may use up. A start over stdio loads it with the first call that is
  // counted, to start faster.
  fastify.addHook('onListen', async () => { loadCounters().catch(() => {}) })

  fastify.addHook('onClose', async () => {
    for (const each of buckets.values()) each.close()
    link?.close()
  })

  function replaceRates ({ rate, burst, toolRates }: Pick<RateOptions, 'rate' | 'burst' | 'toolRates'>): void {
    const previous = buckets
    buckets = new Map()
    callers = rate === undefined ? undefined : bucketFor({ name: 'calls', rate, burst: burst ?? 2 * rate }, previous)
    tools = new Map(
      Object.entries(toolRates).map(([name, rate]) => [
        name,
        bucketFor({ name: `tool:${name}`, rate, burst: rate }, previous)
      ])
    )
    for (const [key, each] of previous) if (!buckets.has(key)) each.close()
  }

  function bucketFor (limit: Rate, previous: Map<string, Bucket>): Bucket {
    const key = JSON.stringify(limit)
    const bucket = previous.get(key) ?? new Bucket(limiter(limit, link, redisPrefix), limit.rate)
    buckets.set(key, bucket)
    return bucket
  }

  function reportRedis (why: string | undefined, error?: Error): void {
    const message = why === undefined ? undefined : `Redis ${why}: calls are counted by this gateway alone`
    fastify.mcp.health.report('rate limits', message)
    if (message === undefined) fastify.log.info('Redis is there: calls are counted together')
    else fastify.log.warn({ err: error }, message)
  }
}, { name: 'patchbay-rate-limiter', dependencies: ['patchbay-mcp', 'patchbay-health'] })

/** The key that calls are counted by. The prefix keeps a principal apart from an address of the same text. */
function callerOf (identity: Identity): string {
  if (identity.principal === undefined) return identity.address ?? LOCAL
  return `principal ${identity.principal}`
}

/** The called tool's name in option `toolRates`, whatever spelling or view was used; what does not exist has none. */
const nameOf = ({ target }: Call): unknown => target?.accessName

type RateReason = Parameters<typeof errors.tooFast>[2]

function check (wait: number | Promise<number>, reason: RateReason, what: string): Promise<void> | undefined {
  if (typeof wait !== 'number') return wait.then(ms => refuseIf(ms, reason, what))
  refuseIf(wait, reason, what)
}

function checkTool (call: Call, tool: Bucket, checked: Promise<void> | undefined): Promise<void> | undefined {
  const next = () =>
    check(
      tool.take(callerOf(call.identity)),
      'tool_rate',
      `to ${String(call.params['name'])} by one caller (option toolRates)`
    )
  return checked === undefined ? next() : checked.then(next)
}

function refuseIf (ms: number, reason: RateReason, what: string): void {
  if (ms > 0) throw errors.tooFast(what, Math.ceil(ms / 1000), reason)
}
