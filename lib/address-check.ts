import { lookup as lookupOfSystem } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { rangeOf, type AddressRange } from './address-range.js'
import { isLoopback } from './network.js'

/** The ranges that a host in one of them may lead to: no name leads from the Internet into a network. */
export const rangesFrom = (range: AddressRange): ReadonlySet<AddressRange> => new Set<AddressRange>(
  range === 'loopback' ? ['loopback', 'private', 'public'] : range === 'private' ? ['private', 'public'] : ['public']
)

/** The code of the error for a name that leads where it must not. */
export const ADDRESS_REFUSED = 'ERR_ADDRESS_REFUSED'

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }]

interface Found { readonly address: string, readonly family: number }

/**
 * Looks names up for connections, and refuses addresses in ranges that were not allowed. Where the operator named the
 * host (`isTrusted`), its first answer decides what is allowed: a name that was on the Internet cannot be moved into a
 * network later. Other hosts are on the Internet, or are refused.
 */
export function checkedLookup (isTrusted: boolean, resolve = lookupOfSystem): LookupFunction {
  let allowed = isTrusted ? undefined : rangesFrom('public')
  const take = (found: readonly Found[]): boolean => {
    const ranges = found.map(({ address }) => rangeOf(address))
    allowed ??= rangesFrom(ranges.includes('public') ? 'public' : ranges.includes('private') ? 'private' : 'loopback')
    return ranges.every(range => allowed?.has(range) === true)
  }
  return (hostname, options, done) => {
    const answer = (found: readonly Found[]): void => {
      const [first] = found
      if (first === undefined || !take(found)) {
        const error = Object.assign(new Error('the address is not allowed'), { code: ADDRESS_REFUSED })
        done(error, '', 0)
      } else if (options.all === true) done(null, [...found])
      else done(null, first.address, first.family)
    }
    // Resolvers of the system may give `localhost` any address.
    if (isLoopback(hostname) && isIP(hostname) === 0) return answer(LOOPBACK)
    resolve(hostname, { all: true, verbatim: true }, (error, found) => {
      if (error === null) answer(found)
      else done(error, '', 0)
    })
  }
}

/**
 * The checked lookups for the hosts of one entry. Each that the operator named keeps what its first answer decided for
 * as long as the entry is there, however often connections are opened.
 */
export class EntryLookups {
  readonly #trusted = new Map<string, LookupFunction>()

  of ({ origin }: Pick<URL, 'origin'>, isTrusted: boolean): LookupFunction {
    const lookup = this.#trusted.get(origin) ?? checkedLookup(isTrusted)
    if (isTrusted) this.#trusted.set(origin, lookup)
    return lookup
  }
}

/** True where a URL has an address itself, in a range that only an operator may choose. */
export function hasLocalAddress ({ hostname }: Pick<URL, 'hostname'>): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  return isLoopback(name) || (isIP(name) !== 0 && rangeOf(name) !== 'public')
}
