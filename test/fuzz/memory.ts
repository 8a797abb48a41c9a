import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use once all that can go is gone: of objects and buffers, and of the whole process. */
export async function memoryInUse (): Promise<{ heap: number, rss: number }> {
  let least = { heap: Infinity, rss: Infinity }
  for (let round = 0; round < 4; round++) {
    collect()
    await sleep(10)
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
    least = { heap: Math.min(least.heap, heapUsed + arrayBuffers), rss: Math.min(least.rss, rss) }
  }
  return least
}
