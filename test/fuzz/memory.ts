import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export interface Memory {
  /** Of objects and buffers. */
  heap: number
  /** Of the process without its heap, whose size depends on how busy it was and not on what is held. */
  native: number
}

/** Bytes in use once all that can go is gone. */
export async function memoryInUse (): Promise<Memory> {
  let least = { heap: Infinity, native: Infinity }
  for (let round = 0; round < 4; round++) {
    collect()
    await sleep(10)
    const { heapUsed, heapTotal, arrayBuffers, rss } = process.memoryUsage()
    least = { heap: Math.min(least.heap, heapUsed + arrayBuffers), native: Math.min(least.native, rss - heapTotal) }
  }
  return least
}
