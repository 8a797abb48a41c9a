import { hasLocalAddress } from '../../lib/address-check.js'
import { isConfidential } from '../../lib/network.js'
import { AccessRefused } from '../../transports/client/credential.js'
import { openClient } from '../../transports/client/http/dial-http.js'
import type { HttpClient } from '../../transports/client/http/http-client.js'
import type { HttpRequest } from '../../transports/client/http/http-exchange.js'
import type { ClientCredential } from '../sign-in/client-credential.js'
import type { ApiAddress } from './api.js'
import { basePathOf } from './document/servers.js'
import { ApiExchange, type ApiReply } from './exchange.js'
import { isUrl, type LoadOptions } from './load.js'
import { cookieNames, type Fixed } from './request/request.js'

interface SiteOptions extends LoadOptions {
  readonly credential: ClientCredential | undefined
  readonly maxReply: number
}

type Send = (exchange: ApiExchange) => Promise<ApiReply>

/**
 * Opens the site of an API, to which nothing is sent before the first call. Rejects in words where it must not be used.
 */
export async function openSite (url: URL, address: ApiAddress, options: SiteOptions): Promise<Site> {
  const isTrusted = [address.url, ...isUrl(address.document) ? [address.document] : []]
    .some(named => named !== '' && new URL(named).origin === url.origin)
  if (!isTrusted && hasLocalAddress(url)) {
    throw new Error(`its document says that the API is at ${url.origin}, in a network of this machine; set "url" of this server if that is right`)
  }
  if (options.credential !== undefined && !isConfidential(url)) {
    throw new Error('its URL begins with http:, and tokens would go over the network unencrypted; use https:')
  }
  const { client, headers } = await openClient(
    { url: url.href, headers: address.headers }, { ...options, lookup: options.lookups.of(url, isTrusted) }
  )
  const setQuery = new Set(url.searchParams.keys())
  const fixed = { query: url.search.slice(1), headers, setQuery, setCookies: cookieNames(headers) }
  return new Site(client, basePathOf(url), fixed, options)
}

/** The origin that answers for an API, and what every request there has. */
export class Site implements Fixed {
  readonly client: HttpClient
  /** The path that all operations are below, unless the document says otherwise. */
  readonly basePath: string
  readonly query: string
  readonly headers: readonly string[]
  /** The members of the query that every request has. */
  readonly setQuery: ReadonlySet<string>
  /** The cookies that every request has. */
  readonly setCookies: ReadonlySet<string>
  readonly #options: SiteOptions

  constructor (client: HttpClient, basePath: string, fixed: Fixed, options: SiteOptions) {
    this.client = client
    this.basePath = basePath
    this.query = fixed.query
    this.headers = fixed.headers
    this.setQuery = fixed.setQuery
    this.setCookies = fixed.setCookies
    this.#options = options
  }

  /**
   * Sends a request, with a token where there are credentials for one; once more, with another token, where it is
   * refused. `send` waits for one reply.
   */
  send (request: HttpRequest, caller: string | undefined, send: Send): Promise<ApiReply> {
    const { credential, maxReply, replies } = this.#options
    const limits = { maxBody: maxReply, limit: 'maxUpstreamMessage', replies }
    const sendOnce = (one: HttpRequest): Promise<ApiReply> => send(new ApiExchange(this.client, one, limits, caller))
    return credential === undefined ? sendOnce(request) : sendWithToken(request, credential, sendOnce)
  }
}

async function sendWithToken (
  request: HttpRequest,
  credential: ClientCredential,
  send: (request: HttpRequest) => Promise<ApiReply>
): Promise<ApiReply> {
  const sendWith = (token: string): Promise<ApiReply> =>
    send({ ...request, headers: [...request.headers, 'authorization', `Bearer ${token}`] })
  const token = await credential.fresh()
  const reply = await sendWith(token)
  if (reply.status !== 401) return reply
  const refusal = new AccessRefused('it answered with status 401', 401, undefined, token)
  const isRenewed = await credential.renew(refusal).then(() => true, () => false)
  return isRenewed && credential.token !== undefined ? await sendWith(credential.token) : reply
}
