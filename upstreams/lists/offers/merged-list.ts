/**
 * An item that an upstream offers under a key, and the one that it offers in its place when another upstream has the
 * key.
 */
export interface Offer<T> { readonly key: string, readonly item: T, readonly alternate?: T | undefined }

/** The upstream that offers; the lowest rank wins a key. */
export interface Owner { readonly alias: string, readonly rank: number }

/** Shows and hides items. Returns the keys among them that local items have. */
export type Show<T> = (hidden: readonly T[], shown: readonly T[]) => string[]

interface Claim<T> { readonly owner: Owner, readonly offer: Offer<T> }
interface Place<T> { claims: Array<Claim<T>>, shown: readonly T[] }

/** The alias of the only upstream that may have a key; undefined when each may. */
export type OwnerOf = (key: string) => string | undefined

/**
 * A key that an upstream offers and does not get: another upstream has it, or a local item where `to` is undefined.
 * `isReserved` when it may belong to that upstream only.
 */
export interface LostKey { readonly key: string, readonly to: string | undefined, readonly isReserved: boolean }

/**
 * One list made of those of all upstreams. Which of two items of one key is shown depends on ranks alone, never on the
 * order of offers, unless the key is reserved for one upstream.
 */
export class MergedList<T> {
  readonly #show: Show<T>
  readonly #ownerOf: OwnerOf
  readonly #places = new Map<string, Place<T>>()
  readonly #contested = new Set<string>()
  #taken = new Set<string>()

  constructor (show: Show<T>, ownerOf: OwnerOf) {
    this.#show = show
    this.#ownerOf = ownerOf
  }

  /** Takes back and makes offers of one upstream; all of it is one change of the list. */
  change (owner: Owner, withdrawn: readonly Offer<T>[], made: readonly Offer<T>[]): void {
    for (const { key } of withdrawn) {
      const place = this.#places.get(key)
      if (place !== undefined) place.claims = place.claims.filter(claim => claim.owner !== owner)
    }
    for (const offer of made) this.#claim(owner, offer)
    this.#renew(new Set([...withdrawn, ...made].map(({ key }) => key)))
  }

  /** Decides again after ranks or reserved keys have changed. */
  rerank (): void {
    const reserved = [...this.#places.keys()].filter(key => this.#ownerOf(key) !== undefined)
    this.#renew(new Set([...this.#contested, ...reserved]))
  }

  lostBy (owner: Owner): LostKey[] {
    const lost = [...this.#contested].flatMap(key => {
      const { winner, losers } = this.#split(key, this.#places.get(key)?.claims ?? [])
      if (!losers.some(claim => claim.owner === owner)) return []
      const reservedFor = this.#ownerOf(key)
      return [{ key, to: reservedFor ?? winner?.owner.alias, isReserved: reservedFor !== undefined }]
    })
    const local = [...this.#taken].filter(key => this.#places.get(key)?.claims[0]?.owner === owner)
    return [...lost, ...local.map(key => ({ key, to: undefined, isReserved: false }))]
  }

  #claim (owner: Owner, offer: Offer<T>): void {
    const place = this.#places.get(offer.key) ?? { claims: [], shown: [] }
    place.claims.push({ owner, offer })
    this.#places.set(offer.key, place)
  }

  #renew (keys: Iterable<string>): void {
    const hidden: T[] = []
    const shown: T[] = []
    for (const key of [...keys]) {
      const place = this.#places.get(key)
      if (place === undefined) continue
      const before = place.shown
      place.shown = this.#decide(key, place)
      if (place.shown.length === before.length && place.shown.every((item, index) => item === before[index])) continue
      this.#taken.delete(key)
      for (const item of before) if (!place.shown.includes(item)) hidden.push(item)
      for (const item of place.shown) if (!before.includes(item)) shown.push(item)
    }
    if (hidden.length + shown.length > 0) for (const key of this.#show(hidden, shown)) this.#taken.add(key)
  }

  #decide (key: string, place: Place<T>): readonly T[] {
    if (place.claims.length === 0) this.#places.delete(key)
    const { winner, losers } = this.#split(key, place.claims.sort((a, b) => a.owner.rank - b.owner.rank))
    if (losers.length > 0) this.#contested.add(key)
    else this.#contested.delete(key)
    return [
      ...(winner === undefined ? [] : [winner.offer.item]),
      ...losers.flatMap(({ offer: { alternate } }) => alternate ?? [])
    ]
  }

  #split (
    key: string,
    claims: ReadonlyArray<Claim<T>>
  ): { winner: Claim<T> | undefined, losers: ReadonlyArray<Claim<T>> } {
    const reservedFor = this.#ownerOf(key)
    const winner = claims.find(({ owner }) => reservedFor === undefined || owner.alias === reservedFor)
    return { winner, losers: claims.filter(claim => claim !== winner) }
  }
}
