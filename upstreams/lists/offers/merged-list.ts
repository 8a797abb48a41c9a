/** What an upstream offers under a key, and what it offers in its place when another upstream has the key. */
export interface Offer<T> { readonly key: string, readonly item: T, readonly alternate?: T | undefined }

/** The upstream that offers; the lowest rank wins a key. */
export interface Owner { readonly alias: string, readonly rank: number }

/** Shows and hides items. Returns the keys among them that local items have. */
export type Show<T> = (hidden: readonly T[], shown: readonly T[]) => string[]

interface Claim<T> { readonly owner: Owner, readonly offer: Offer<T> }
interface Place<T> { claims: Array<Claim<T>>, shown: readonly T[] }

/** One list made of those of all upstreams. Which of two items of one key is shown depends on ranks alone, never on the order of offers. */
export class MergedList<T> {
  readonly #show: Show<T>
  readonly #places = new Map<string, Place<T>>()
  readonly #contested = new Set<string>()
  #taken = new Set<string>()

  constructor (show: Show<T>) {
    this.#show = show
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

  /** Decides again after ranks have changed. */
  rerank (): void {
    this.#renew(this.#contested)
  }

  /** The keys that the owner offers and others have: another upstream by its alias, or undefined for a local item. */
  lostBy (owner: Owner): Array<{ key: string, to: string | undefined }> {
    const lost = [...this.#contested].flatMap(key => {
      const [winner, ...losers] = this.#places.get(key)?.claims ?? []
      return winner !== undefined && losers.some(claim => claim.owner === owner) ? [{ key, to: winner.owner.alias }] : []
    })
    const local = [...this.#taken].filter(key => this.#places.get(key)?.claims[0]?.owner === owner)
    return [...lost, ...local.map(key => ({ key, to: undefined }))]
  }

  #claim (owner: Owner, offer: Offer<T>): void {
    const place = this.#places.get(offer.key) ?? { claims: [], shown: [] }
    place.claims.push({ owner, offer })
    this.#places.set(offer.key, place)
  }

  #renew (keys: Iterable<string>): void {
    const hidden: T[] = []
    const shown: T[] = []
    const touched = [...keys]
    for (const key of touched) {
      const place = this.#places.get(key)
      if (place === undefined) continue
      const before = place.shown
      place.shown = this.#decide(key, place)
      for (const item of before) if (!place.shown.includes(item)) hidden.push(item)
      for (const item of place.shown) if (!before.includes(item)) shown.push(item)
    }
    for (const key of touched) this.#taken.delete(key)
    if (hidden.length + shown.length > 0) for (const key of this.#show(hidden, shown)) this.#taken.add(key)
  }

  #decide (key: string, place: Place<T>): readonly T[] {
    const [winner, ...losers] = place.claims.sort((a, b) => a.owner.rank - b.owner.rank)
    if (losers.length > 0) this.#contested.add(key)
    else this.#contested.delete(key)
    if (winner === undefined) this.#places.delete(key)
    return winner === undefined ? [] : [winner.offer.item, ...losers.flatMap(({ offer: { alternate } }) => alternate ?? [])]
  }
}
