import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Whom a credential speaks for. */
export interface Holder {
  readonly principal: string
  readonly scopes: ReadonlySet<string>
  /** When that ends, in milliseconds since 1970. */
  readonly expires?: number | undefined
}

/** A key as the operator lists it: whose it is and what for, but not the key. */
export interface ListedKey { name: string, hash: string, scopes: string[], expires?: string }

/** What another list of keys changes, by the names of the keys, and the holders for whom something is different now. */
export interface KeyChanges { added: string[], removed: string[], changed: string[], holders: Holder[] }

interface Key { id: string, name: string, digest: Buffer, holder: { -readonly [member in keyof Holder]: Holder[member] } }

const PREFIX = 'sha256:'

/** A new key that nobody can guess. */
export const makeKey = (): string => `pb_${randomBytes(32).toString('base64url')}`

export const digestOf = (credential: string): Buffer => createHash('sha256').update(credential).digest()

/** What the operator keeps of a key. */
export const hashOf = (key: string): string => PREFIX + digestOf(key).toString('hex')

/** The keys that are accepted. Several may have the same name: they speak for the same holder. */
export class ApiKeys {
  #keys: Key[]

  /** Throws a sentence that names the option when something listed makes no sense. */
  constructor (listed: ListedKey[]) {
    this.#keys = keysOf(listed)
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

  /**
   * Accepts the keys of another list instead. A key that stays keeps its holder, which gets the new scopes and the new end; the holder of a
   * removed key has expired. Throws like the constructor, and then nothing has changed.
   */
  replace (listed: ListedKey[]): KeyChanges {
    const next = keysOf(listed)
    const before = new Map(this.#keys.map(key => [key.id, key]))
    const after = new Set(next.map(({ id }) => id))
    const removed = this.#keys.filter(({ id }) => !after.has(id))
    const changed = next.filter(key => isOther(key, before.get(key.id)))
    for (const { holder } of removed) holder.expires = 0
    this.#keys = next.map(key => updated(before.get(key.id), key))
    const added = next.filter(({ id }) => !before.has(id))
    const holders = [...removed, ...changed.map(({ id }) => before.get(id) as Key)].map(({ holder }) => holder)
    return { added: namesOf(added), removed: namesOf(removed), changed: namesOf(changed), holders }
  }
}

function keysOf (listed: ListedKey[]): Key[] {
  const hashes = listed.map(({ hash }) => hash)
  const again = hashes.findIndex((hash, index) => hashes.indexOf(hash) !== index)
  if (again !== -1) throw new Error(`option apiKeys.${again}.hash is listed twice: make a key of its own for each with "patchbay key NAME"`)
  return listed.map((key, index) => ({
    id: `${key.name} ${key.hash}`, name: key.name, digest: Buffer.from(key.hash.slice(PREFIX.length), 'hex'), holder: holderOf(key, index)
  }))
}

function holderOf ({ name, scopes, expires }: ListedKey, index: number): Holder {
  const time = expires === undefined ? undefined : Date.parse(expires)
  if (Number.isNaN(time)) throw new Error(`option apiKeys.${index}.expires must be a time in UTC such as 2030-01-31T12:00:00Z, or a day, not "${expires}"`)
  return { principal: `key:${name}`, scopes: new Set(scopes), expires: time }
}

function isOther ({ holder }: Key, before: Key | undefined): boolean {
  if (before === undefined) return false
  const { scopes, expires } = before.holder
  return expires !== holder.expires || scopes.size !== holder.scopes.size || [...scopes].some(scope => !holder.scopes.has(scope))
}

// Connections and sessions refer to the holder, so a key that stays must not get another object.
function updated (before: Key | undefined, key: Key): Key {
  if (before === undefined) return key
  Object.assign(before.holder, key.holder)
  return before
}

const namesOf = (keys: Key[]): string[] => [...new Set(keys.map(({ name }) => name))]
