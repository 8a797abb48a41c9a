import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

/** The delay of the event loop in milliseconds, the others in bytes. */
export interface Load { eventLoopDelay: number, heapUsed: number, rssBytes: number }

/** In milliseconds. */
const RESOLUTION = 10

/** Measures how busy this process is, from one call of `measure` to the next. */
export class LoadMeter {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  #rssBytes = 0

  constructor () {
    this.#delays.enable()
  }

  measure (): Load {
    // Without a sample the event loop never got as far as to take one.
    const { count, mean } = this.#delays
    const eventLoopDelay = count === 0 ? Infinity : Math.max(0, mean / 1e6 - RESOLUTION)
    this.#delays.reset()
    this.#rssBytes = residentMemory() ?? this.#rssBytes
    return { eventLoopDelay, heapUsed: getHeapStatistics().used_heap_size, rssBytes: this.#rssBytes }
  }

  stop (): void {
    this.#delays.disable()
  }
}

/** Undefined where it cannot be read: Linux tells it in a file, which cannot be opened when there are too many open files. */
export function residentMemory (): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}
