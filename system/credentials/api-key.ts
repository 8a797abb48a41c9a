import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Whom a credential speaks for. */
export interface Holder {
  readonly principal: string
  readonly scopes: ReadonlySet<string>
  /** When that ends, in milliseconds since 1970. */
  readonly expires?: number
}

/** A key as the operator lists it: whose it is and what for, but not the key. */
export interface ListedKey { name: string, hash: string, scopes: string[], expires?: string }

const PREFIX = 'sha256:'

/** A new key that nobody can guess. */
export const makeKey = (): string => `pb_${randomBytes(32).toString('base64url')}`

export const digestOf = (credential: string): Buffer => createHash('sha256').update(credential).digest()

/** What the operator keeps of a key. */
export const hashOf = (key: string): string => PREFIX + digestOf(key).toString('hex')

/** The keys that are accepted. Several may have the same name: they speak for the same holder. */
export class ApiKeys {
  readonly #keys: Array<{ digest: Buffer, holder: Holder }>

  /** Throws a sentence that names the option when something listed makes no sense. */
  constructor (listed: ListedKey[]) {
    const hashes = listed.map(({ hash }) => hash)
    const again = hashes.findIndex((hash, index) => hashes.indexOf(hash) !== index)
    if (again !== -1) throw new Error(`option apiKeys.${again}.hash is listed twice: make a key of its own for each with "patchbay key NAME"`)
    this.#keys = listed.map((key, index) => ({ digest: Buffer.from(key.hash.slice(PREFIX.length), 'hex'), holder: holderOf(key, index) }))
  }

  get size (): number {
    return this.#keys.length
  }

  /** Looks at all of them, so that the time it takes tells nothing about which one it is, or whether there is one. */
  find (digest: Buffer): Holder | undefined {
    let found: Holder | undefined
    for (const key of this.#keys) found = timingSafeEqual(key.digest, digest) ? key.holder : found
    return found
  }
}

function holderOf ({ name, scopes, expires }: ListedKey, index: number): Holder {
  const holder = { principal: `key:${name}`, scopes: new Set(scopes) }
  if (expires === undefined) return holder
  const time = Date.parse(expires)
  if (Number.isNaN(time)) throw new Error(`option apiKeys.${index}.expires must be a time in UTC such as 2030-01-31T12:00:00Z, or a day, not "${expires}"`)
  return { ...holder, expires: time }
}
