import { clientOf } from '../dispatch/call-facts.js'
import { isObject } from '../wire/json.js'

/** How many names are remembered, and how long they may be. */
const MOST = 256
const LONGEST = 64

interface Named { readonly client: string | undefined, readonly version: unknown, readonly name: string | undefined }

/** Names clients as the audit log does. Most calls come from a few clients, so that their names are made once. */
export class ClientNames {
  readonly #known = new Map<string, Named>()
  #latest: Named = { client: undefined, version: undefined, name: undefined }

  of (client: unknown): string | undefined {
    if (!isObject(client) || typeof client.name !== 'string') return undefined
    const { name, version } = client
    // Two short texts are compared sooner than one is looked up.
    if (this.#latest.client === name && this.#latest.version === version) return this.#latest.name
    const known = this.#known.get(name)
    if (known !== undefined && known.version === version) return (this.#latest = known).name
    const text = clientOf(client)
    if (name.length > LONGEST || (typeof version === 'string' && version.length > LONGEST)) return text
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(name, { client: name, version: typeof version === 'string' ? version : undefined, name: text })
    return text
  }
}
