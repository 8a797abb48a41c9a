import { getHeapStatistics } from 'node:v8'
import { residentMemory } from './load.js'

/** What this process takes and runs on. */
export function runtime (): { node: string, memory: { rss: number, heapUsed: number } } {
  return { node: process.versions.node, memory: { rss: residentMemory() ?? 0, heapUsed: getHeapStatistics().used_heap_size } }
}
