import { isObject, type Client } from './contract.js'

const WATCH = 'patchbay/watch'

/** True when the server lets this caller watch it. */
export function mayWatch (client: Client | undefined): boolean {
  if (client === undefined) return false
  const { experimental, extensions } = client.server.capabilities
  return [experimental, extensions].some(declared => isObject(declared) && WATCH in declared)
}
