import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

const MIB = 1024 * 1024
/**
 * The part of V8's heap limit that is for the young generation, which objects that stay cannot have. V8 does not tell it: with Node.js 24 the
 * limit is 192 MiB above `--max-old-space-size`, before that 48.
 */
const YOUNG = Number(process.versions.node.split('.')[0]) >= 24 ? { most: 192 * MIB, share: 0.5 } : { most: 96 * MIB, share: 0.3 }

/** How many bytes of heap Node.js may use for what stays before it gives up, cautiously. */
export function heapLimit (): number {
  const limit = getHeapStatistics().heap_size_limit
  return limit - Math.min(YOUNG.most, YOUNG.share * limit)
}

/** How many bytes of memory there are for this process. */
export function memoryLimit (): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity)
}
