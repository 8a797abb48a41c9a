import { clientOf } from '../dispatch/call-facts.js'
import { isObject } from '../wire/json.js'

/** How many names are remembered, and how long they may be. */
const MOST = 256
const LONGEST = 64

/** Names clients as the audit log does. Most calls come from a few clients, so that their names are made once. */
export class ClientNames {
  readonly #known = new Map<string, { version: unknown, name: string | undefined }>()

  of (client: unknown): string | undefined {
    if (!isObject(client) || typeof client.name !== 'string') return undefined
    const { name, version } = client
    const known = this.#known.get(name)
    if (known !== undefined && known.version === version) return known.name
    const text = clientOf(client)
    if (name.length > LONGEST || (typeof version === 'string' && version.length > LONGEST)) return text
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(name, { version: typeof version === 'string' ? version : undefined, name: text })
    return text
  }
}
