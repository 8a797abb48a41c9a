import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The caller that a credential identifies. */
export interface Holder {
  readonly principal: string
  readonly scopes: ReadonlySet<string>
  /** When the credential expires, in milliseconds since 1970. */
  readonly expires?: number | undefined
  /** The view that the credential is bound to. */
  readonly view?: string | undefined
  /** The claims of its token that are asked for, null for one that it lacks. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** A key in the options: its name, scopes and hash, not the key itself. */
export interface ListedKey { name: string, hash: string, scopes: string[], expires?: string, view?: string }

/** The difference between two lists of keys, by their names, and the holders whose rights or expiry changed. */
export interface KeyChanges { added: string[], removed: string[], changed: string[], holders: Holder[] }

interface Key {
  id: string
  name: string
  digest: Buffer
  holder: { -readonly [member in keyof Holder]: Holder[member] }
}

const PREFIX = 'sha256:'

/** A new random key of 256 bits. */
export const makeKey = (): string => `pb_${randomBytes(32).toString('base64url')}`

export const digestOf = (credential: string): Buffer => createHash('sha256').update(credential).digest()

/** The hash of a key for the options. */
export const hashOf = (key: string): string => PREFIX + digestOf(key).toString('hex')

/** The keys that are accepted. Keys of the same name identify the same principal. */
export class ApiKeys {
  #keys: Key[]
  /** The ids of holders, also of those whose keys were removed. */
  readonly #ids = new WeakMap<object, string>()

  /** Throws a sentence that names the option if a key is wrong. */
  constructor (listed: ListedKey[]) {
    this.#keys = this.#withIds(keysOf(listed))
  }

  get size (): number {
    return this.#keys.length
  }

  /** The holders of all keys, in the order of the list. */
  holders (): Holder[] {
    return this.#keys.map(({ holder }) => holder)
  }

  /** Compares with every key, so that the time it takes does not reveal which one matches, or whether one does. */
  find (digest: Buffer): Holder | undefined {
    let found: Holder | undefined
    for (const key of this.#keys) found = timingSafeEqual(key.digest, digest) ? key.holder : found
    return found
  }

  /** The id of the key of a holder, which says nothing about the key; undefined for an identity that no key gave. */
  idOf (identity: object): string | undefined {
    return this.#ids.get(identity)
  }

  /** The holder of the listed key with that id. */
  holderOf (id: string): Holder | undefined {
    return this.#keys.find(({ holder }) => this.#ids.get(holder) === id)?.holder
  }

  /**
   * Replaces the list of keys. A key that stays keeps its holder, which gets the new scopes and expiry; the holder of a
   * removed key expires, and so does that of a key that is bound to another view now. Throws like the constructor, and
   * then nothing has changed.
   */
  replace (listed: ListedKey[]): KeyChanges {
    const next = keysOf(listed)
    const before = new Map(this.#keys.map(key => [key.id, key]))
    const after = new Set(next.map(({ id }) => id))
    const removed = this.#keys.filter(({ id }) => !after.has(id))
    const changed = next.filter(key => hasChanged(key, before.get(key.id)))
    for (const { holder } of removed) holder.expires = 0
    this.#keys = this.#withIds(next.map(key => update(before.get(key.id), key)))
    const added = next.filter(({ id }) => !before.has(id))
    const holders = [...removed, ...changed.map(({ id }) => before.get(id) as Key)].map(({ holder }) => holder)
    const [gone, come] = [
      removed.filter(key => !hasDigest(next, key)),
      added.filter(key => !hasDigest([...before.values()], key))
    ]
    return {
      added: namesOf(come),
      removed: namesOf(gone),
      changed: namesOf([...changed, ...added.filter(key => !come.includes(key))]),
      holders
    }
  }

  #withIds (keys: Key[]): Key[] {
    for (const { id, holder } of keys) {
      if (!this.#ids.has(holder)) this.#ids.set(holder, digestOf(id).toString('base64url'))
    }
    return keys
  }
}

function keysOf (listed: ListedKey[]): Key[] {
  const hashes = listed.map(({ hash }) => hash)
  const again = hashes.findIndex((hash, index) => hashes.indexOf(hash) !== index)
  if (again !== -1) {
    throw new Error(
      `option apiKeys.${again}.hash is listed twice: make a key of its own for each with "patchbay key NAME"`
    )
  }
  return listed.map((key, index) => ({
    id: [key.name, key.hash, ...(key.view === undefined ? [] : [key.view])].join(' '),
    name: key.name,
    digest: Buffer.from(key.hash.slice(PREFIX.length), 'hex'),
    holder: holderOf(key, index)
  }))
}

function holderOf ({ name, scopes, expires, view }: ListedKey, index: number): Holder {
  const time = expires === undefined ? undefined : Date.parse(expires)
  if (Number.isNaN(time)) {
    throw new Error(
      `option apiKeys.${index}.expires must be a time in UTC such as 2030-01-31T12:00:00Z, or a day, not "${expires}"`
    )
  }
  return { principal: `key:${name}`, scopes: new Set(scopes), expires: time, ...view !== undefined && { view } }
}

function hasChanged ({ holder }: Key, before: Key | undefined): boolean {
  if (before === undefined) return false
  const { scopes, expires } = before.holder
  return (
    expires !== holder.expires ||
    scopes.size !== holder.scopes.size ||
    [...scopes].some(scope => !holder.scopes.has(scope))
  )
}

// Connections and sessions refer to the holder object, so a key that stays keeps it.
function update (before: Key | undefined, key: Key): Key {
  if (before === undefined) return key
  Object.assign(before.holder, key.holder)
  return before
}

/** True when a list has the key, be it bound to another view. */
const hasDigest = (keys: Key[], { name, digest }: Key): boolean =>
  keys.some(key => key.name === name && key.digest.equals(digest))

const namesOf = (keys: Key[]): string[] => [...new Set(keys.map(({ name }) => name))]
