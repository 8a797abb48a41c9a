import { qualifiedPage } from '../../protocol/definitions/common-members.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Patience } from '../../protocol/definitions/patience.js'
import type { TaskUse } from '../../protocol/definitions/task-use.js'
import type { ResultOptions } from '../../protocol/definitions/result-options.js'
import { codes, errors, isMcpError, shorten } from '../../protocol/wire/errors.js'
import type { Identity } from '../../protocol/wire/identity.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Upstream } from '../ports.js'
import { callerOf } from '../relay/client-of.js'
import { relayRequest, relaySignIn, type RelayOptions } from '../relay/relay-request.js'
import { isUnsigned } from './of-callers.js'
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
  readonly patience: Patience | undefined
  readonly task: TaskUse | undefined
  hasTasks = false
  readonly subscriptions: Subscriptions
  readonly #upstream: Upstream
  readonly #links: Links
  readonly #reserved: ReservedNames
  readonly #lists: () => UpstreamLists
  readonly #ownerOfPage: (uri: string) => string | undefined
  rank: number

  constructor (
    upstream: Upstream,
    rank: number,
    links: Links,
    reserved: ReservedNames,
    timeout: number,
    lists: () => UpstreamLists,
    ownerOfPage: (uri: string) => string | undefined
  ) {
    this.alias = upstream.entry.alias
    this.scopes = upstream.entry.scopes
    this.results = upstream.entry.results
    this.patience = upstream.entry.patience
    this.task = upstream.entry.task
    this.rank = rank
    this.#upstream = upstream
    this.#links = links
    this.#reserved = reserved
    this.#lists = lists
    this.#ownerOfPage = ownerOfPage
    this.subscriptions = new Subscriptions({
      alias: this.alias,
      timeout: upstream.entry.timeout ?? timeout,
      start: () => {
        upstream.shared().catch(() => {})
      },
      resumed: () => lists().relistAll()
    })
  }

  get isHeld (): boolean {
    return this.#upstream.entry.pins === 'hold'
  }

  mayHave (uri: string): boolean {
    const owner = this.#reserved.ownerOfUri(uri)
    return owner === undefined || owner === this.alias
  }

  pageUri (uri: string): string {
    if (!uri.startsWith('ui://') || (this.#ownerOfPage(uri) ?? this.alias) === this.alias) return uri
    return qualifiedPage(this.alias, uri)
  }

  async relay (method: string, params: Params, call: Call, options?: RelayOptions): Promise<Record<string, unknown>> {
    if (isUnsigned(this.#lists().snapshot) && method === 'tools/call') return await relaySignIn(call, this.#upstream)
    const result = await relayRequest(call, this.#upstream, method, params, options)
    if (this.isHeld && method === 'resources/read') this.#checkContents(String(params.uri), result)
    this.#links.note(call.principal, this.alias, result)
    return result
  }

  noteUris (call: Call, uris: readonly string[]): void {
    this.#links.noteUris(call.principal, this.alias, uris)
  }

  /** Throws where the file of a skill is not as it was accepted. */
  #checkContents (uri: string, { contents }: Record<string, unknown>): void {
    const why = this.#lists().offered.mistakeOfContents(uri, contents)
    if (why === undefined) return
    throw errors.upstreamFailed(this.alias, `it offers ${shorten(uri)} otherwise than the operator accepted: ${why}`)
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
    if (this.#upstream.entry.auth === 'caller') {
      throw errors.upstreamUnavailable(this.alias, 'its resources cannot be watched, because each caller has its own sign-in')
    }
    return await this.subscriptions.watch(uri, changed, callerOf({ identity }))
  }
}
