import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

/** The delay of the event loop in milliseconds, the others in bytes. */
export interface Load {
  eventLoopDelay: number
  /**
   * The heap after the last major garbage collection: without garbage. Undefined when that was longer than `VALID` ago.
   */
  heapUsed: number | undefined
  rssBytes: number
}

/** In milliseconds. */
const RESOLUTION = 10
/**
 * How long the size of the heap after a collection counts, in milliseconds. While all calls are refused nothing makes
 * V8 collect, so memory that was freed meanwhile would never be seen. When calls are served again, V8 collects before a
 * nearly full heap is exhausted.
 */
const VALID = 5_000

/**
 * Measures how busy this process is, from one call of `measure` to the next. `onCollected` gets the size of the heap
 * after each major collection.
 */
export class LoadMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  readonly #collections = new PerformanceObserver(list => {
    if (!list.getEntries().some(isMajor)) return
    this.#readHeap()
    this.#onCollected(this.#heap.size)
  })

  readonly #onCollected: (heapUsed: number) => void
  #rssBytes = 0
  #resetAt = performance.now()
  #heap = { size: 0, at: 0 }

  constructor (onCollected: (heapUsed: number) => void = () => {}) {
    this.#onCollected = onCollected
    this.#delays.enable()
    this.#collections.observe({ entryTypes: ['gc'] })
    this.#readHeap()
  }

  measure (): Load {
    // Without a sample the event loop has been late since the last call.
    const { count, mean } = this.#delays
    const eventLoopDelay = count === 0 ? performance.now() - this.#resetAt : Math.max(0, mean / 1e6 - RESOLUTION)
    this.#delays.reset()
    this.#resetAt = performance.now()
    this.#rssBytes = residentMemory() ?? this.#rssBytes
    const { size, at } = this.#heap
    return { eventLoopDelay, heapUsed: performance.now() - at > VALID ? undefined : size, rssBytes: this.#rssBytes }
  }

  stop (): void {
    this.#delays.disable()
    this.#collections.disconnect()
  }

  #readHeap (): void {
    this.#heap = { size: getHeapStatistics().used_heap_size, at: performance.now() }
  }
}

const isMajor = (entry: object): boolean =>
  (entry as { detail?: { kind?: number } }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR

/**
 * Undefined where it cannot be read: Linux tells it in a file, which cannot be opened when there are too many open
 * files.
 */
export function residentMemory (): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}
