import fp from 'fastify-plugin'
import { errors } from '../../protocol/wire/errors.js'
import { LoadMeter, type Load } from '../../system/process/load.js'
import { heapLimit, memoryLimit } from '../../system/process/usage.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** How overloaded the process is. */
    pressure: {
      /** From `some` on, new sessions and connections are refused; at `heavy`, every call. */
      readonly level: 'none' | 'some' | 'heavy'
      /** The limit that is exceeded, and its option; empty at `none`. */
      readonly why: string
    }
  }
}

export interface PressureOptions {
  maxEventLoopDelay: number
  maxHeap?: number | undefined
  maxRss?: number | undefined
}

/**
 * The number of measurements in a row over a limit that make a level: one handler that blocks the event loop once makes
 * none. Memory counts twice, because it is not freed by waiting.
 */
const LASTING = { some: 2, heavy: 4 }
const WEIGHT = { loop: 1, memory: 2 }
interface Excess { why: string, weight: number }
const LITTLE_HEAP: Excess = { why: 'there is little heap left, limit maxHeap', weight: WEIGHT.memory }

const HEAP_SHARE = 0.9
const RSS_SHARE = 0.8

/**
 * Refuses new work while the process is overloaded, on every transport. `@fastify/under-pressure` refuses over HTTP
 * alone, after one measurement, and throws in its timer when there are too many open files.
 */
export default fp(async (
  fastify,
  { maxEventLoopDelay, maxHeap = HEAP_SHARE * heapLimit(), maxRss = RSS_SHARE * memoryLimit() }: PressureOptions
) => {
  const { mcp, mcp: { health }, log } = fastify
  const interval = Math.min(1_000, Math.max(100, maxEventLoopDelay))
  // The heap can fill up between two samples, so it is looked at after each collection, too.
  const meter = new LoadMeter(heapUsed => { if (heapUsed > maxHeap) record(LITTLE_HEAP, { heapUsed }) })
  let row = 0
  let why = ''

  fastify.mcp.provide('pressure', {
    get level () { return row < LASTING.some ? 'none' : row < LASTING.heavy ? 'some' : 'heavy' },
    get why () { return fastify.mcp.pressure.level === 'none' ? '' : why }
  })

  mcp.dispatcher.gate(({ method }) => {
    const { level } = fastify.mcp.pressure
    // A ping is answered always: clients take a missing answer for a dead server.
    if (level !== 'none' && method !== 'ping' && (level === 'heavy' || method === 'initialize')) {
      throw errors.overloaded(why)
    }
  })

  const sampler = setInterval(sample, interval).unref()
  fastify.addHook('onClose', async () => {
    clearInterval(sampler)
    meter.stop()
  })

  function sample (): void {
    const load = meter.measure()
    record(tooMuch(load), load)
  }

  function record (found: Excess | undefined, load: Partial<Load>): void {
    const before = fastify.mcp.pressure.level
    row = found === undefined ? 0 : row + found.weight
    why = found?.why ?? ''
    const { level } = fastify.mcp.pressure
    health.report('pressure', level === 'none' ? undefined : why, 'overloaded')
    if (level !== before) {
      log.warn({ pressure: level, ...load }, level === 'none' ? 'pressure ended' : `new work is refused: ${why}`)
    }
  }

  function tooMuch ({ eventLoopDelay, heapUsed, rssBytes }: Load): Excess | undefined {
    if (heapUsed !== undefined && heapUsed > maxHeap) return LITTLE_HEAP
    if (rssBytes > maxRss) return { why: 'the process takes too much memory, limit maxRss', weight: WEIGHT.memory }
    return eventLoopDelay > maxEventLoopDelay
      ? { why: 'the event loop is late, limit maxEventLoopDelay', weight: WEIGHT.loop }
      : undefined
  }
}, { name: 'patchbay-pressure', dependencies: ['patchbay-mcp', 'patchbay-health'] })
