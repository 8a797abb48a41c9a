import { createHash, randomBytes } from 'node:crypto'
import type { Params } from '../protocol/wire/jsonrpc.js'
import { GATEWAY_META, metaOf } from '../protocol/wire/meta.js'

/** The `_meta` with which a gateway of ours tells its upstreams that it is one. */
export const MARKED = Object.freeze({ [GATEWAY_META.gateway]: true })

/** The most ids that are kept of one upstream, and the longest. */
const MAX_HOPS = 1_000
const MAX_LENGTH = 64

/**
 * An upstream that lists what this gateway lists of it. A hop is a gateway and one of its upstreams; the ids of the
 * hops that entries came over go with every list from gateway to gateway, so that a gateway that gets the id of the
 * very hop that it reads over is part of a ring.
 */
export class RingFound extends Error {
  override readonly name = 'RingFound'

  constructor () {
    super(
      'it is a Patchbay gateway that has this gateway as an upstream (directly or through others); remove one of them from the configuration of the other'
    )
  }
}

/** Makes the ids of a gateway's hops, by the alias of the upstream. They say nothing to others. */
export function createHops (): (alias: string) => string {
  const gateway = randomBytes(16)
  return alias => createHash('sha256').update(gateway).update(alias).digest('base64url').slice(0, 16)
}

/** The hops that a result of an upstream names; undefined if the upstream is no gateway of ours. */
export function hopsIn (result: Readonly<Params>): readonly string[] | undefined {
  const { [GATEWAY_META.hops]: hops } = metaOf(result)
  if (!Array.isArray(hops)) return undefined
  return hops.slice(0, MAX_HOPS).filter((hop): hop is string => typeof hop === 'string' && hop.length <= MAX_LENGTH)
}

/** Joins hops of one upstream; those that are too many are left out. */
export const joinHops = (...groups: ReadonlyArray<readonly string[]>): readonly string[] =>
  [...new Set(groups.flat())].slice(0, MAX_HOPS)

/** The hops that what is shown of one upstream may have come over. */
export class HopsOfUpstream {
  readonly #own: string
  /** Undefined for an upstream that is no gateway of ours. */
  #behind: readonly string[] | undefined = []

  /** `own` is the id of the hop to the upstream itself. */
  constructor (own: string) {
    this.#own = own
  }

  /** All of them, for gateways in front of this one. */
  get all (): readonly string[] {
    return this.#behind === undefined ? [] : [this.#own, ...this.#behind]
  }

  get behind (): readonly string[] | undefined {
    return this.#behind
  }

  /**
   * Adds the hops of a handshake, undefined for a server of others: lists that were read earlier are shown for a while
   * after it.
   */
  connect (hops: readonly string[] | undefined): void {
    this.#behind = hops === undefined ? undefined : joinHops(hops, this.#behind ?? [])
  }

  /**
   * Replaces the hops by those of lists that were read, unless these have none. False if the upstream is part of a
   * ring.
   */
  take (hops: readonly string[]): boolean {
    if (hops.includes(this.#own)) return false
    if (this.#behind !== undefined && hops.length > 0) this.#behind = hops
    return true
  }

  /** Replaces the hops by those of lists that were stored, or by none when nothing is shown. */
  reset (hops: readonly string[] = []): void {
    this.#behind = hops
  }
}
