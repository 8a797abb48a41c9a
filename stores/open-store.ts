import type { Store } from '../protocol/store.js'
import { memoryStore } from './memory/store.js'

interface StoreOptions {
  data?: string | undefined
  ephemeral: boolean
  maxData: number
  redis?: string | undefined
  redisPrefix: string
}

/** Opens the store that the options ask for. The modules of a store are loaded only where it is used. */
export async function openStore (
  { data, ephemeral, maxData, redis, redisPrefix }: StoreOptions,
  onWarning: (sentence: string) => void
): Promise<Store> {
  if (redis !== undefined) {
    const { redisStore } = await import('./redis/store.js')
    return await redisStore(redis, redisPrefix, { onWarning })
  }
  if (ephemeral || data === undefined) return memoryStore()
  const { diskStore } = await import('./disk/store.js')
  return diskStore(data, maxData)
}
