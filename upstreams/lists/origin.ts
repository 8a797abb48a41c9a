import type { Call } from '../../protocol/dispatch/call.js'
import type { ResultOptions } from '../../protocol/definitions/result-options.js'
import { codes, isMcpError } from '../../protocol/wire/errors.js'
import type { Identity } from '../../protocol/wire/identity.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Upstream } from '../ports.js'
import { callerOf } from '../relay/client-of.js'
import { relayRequest, type RelayOptions } from '../relay/relay-request.js'
import type { Origin } from './offers/definitions.js'
import type { ReservedNames } from './offers/reserved-names.js'
import type { Links } from './result-links.js'
import type { Entry } from './reading/kinds.js'
import { Subscriptions } from './subscriptions/subscriptions.js'
import type { UpstreamLists } from './upstream-lists.js'

const NO_SUGGESTIONS = { completion: { values: [], total: 0, hasMore: false } }

/** An upstream as its definitions see it. */
export class UpstreamOrigin implements Origin {
  readonly alias: string
  readonly scopes: readonly string[] | undefined
  readonly results: ResultOptions | undefined
  readonly subscriptions: Subscriptions
  readonly #upstream: Upstream
  readonly #links: Links
  readonly #reserved: ReservedNames
  readonly #lists: () => UpstreamLists
  rank: number

  constructor (
    upstream: Upstream,
    rank: number,
    links: Links,
    reserved: ReservedNames,
    timeout: number,
    lists: () => UpstreamLists
  ) {
    this.alias = upstream.entry.alias
    this.scopes = upstream.entry.scopes
    this.results = upstream.entry.results
    this.rank = rank
    this.#upstream = upstream
    this.#links = links
    this.#reserved = reserved
    this.#lists = lists
    this.subscriptions = new Subscriptions({
      alias: this.alias,
      timeout: upstream.entry.timeout ?? timeout,
      start: () => {
        upstream.shared().catch(() => {})
      },
      resumed: () => lists().relistAll()
    })
  }

  mayHave (uri: string): boolean {
    const owner = this.#reserved.ownerOfUri(uri)
    return owner === undefined || owner === this.alias
  }

  async relay (method: string, params: Params, call: Call, options?: RelayOptions): Promise<Record<string, unknown>> {
    const result = await relayRequest(call, this.#upstream, method, params, options)
    this.#links.note(call.principal, this.alias, result)
    return result
  }

  async relist (name: string): Promise<Entry | undefined> {
    const lists = this.#lists()
    await lists.reread('tools')
    return lists.snapshot.lists.tools.find(entry => entry.name === name)
  }

  async complete (params: Params, call: Call): Promise<Record<string, unknown>> {
    if (!this.#lists().snapshot.completes) return NO_SUGGESTIONS
    try {
      return await relayRequest(call, this.#upstream, 'completion/complete', params)
    } catch (error) {
      if (isMcpError(error) && error.code === codes.methodNotFound) return NO_SUGGESTIONS
      throw error
    }
  }

  async watch (uri: string, changed: () => void, identity: Identity): Promise<() => void> {
    return await this.subscriptions.watch(uri, changed, callerOf({ identity }))
  }
}
