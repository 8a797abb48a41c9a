import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Store } from '../../protocol/store.js'
import { SIGN_IN_KEY, type SealingOptions } from './storable.js'

/** Has a gateway use the sign-ins of another; none where there are none, or their store cannot be opened. */
export async function shareSignIns<O extends SealingOptions> (
  app: FastifyInstance,
  options: O,
  openStore: (options: O, onWarning: (sentence: string) => void) => Promise<Store>
): Promise<void> {
  const { ephemeral, data, redis, secret } = options
  const hasKey = redis === undefined
    ? !ephemeral && data !== undefined && existsSync(join(data, SIGN_IN_KEY))
    : secret !== undefined
  const store = hasKey ? await openStore(options, () => {}).catch(() => undefined) : undefined
  if (store === undefined) return
  app.addHook('onClose', async () => await store.close())
  app.mcp.upstreams.signIns.use(store.values, options)
}
