import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { prompt, resource, tool, type Identity } from '../../../../app.js'
import { narrowingOf } from '../../../../protocol/http/narrowing.js'
import { Peer } from '../../../../protocol/peer/peer.js'
import { oldest, revisionNamed } from '../../../../protocol/revisions/table.js'
import type { Prompt } from '../../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../../protocol/definitions/resource.js'
import type { Tool } from '../../../../protocol/definitions/tool.js'
import { host } from '../../../support/host.js'
import type { Json } from '../../../support/specification/message.js'
import { newestLegacy } from '../../../support/specification/revisions.js'
import { compareList, compareRoad, ROADS, type Ask } from './compare-roads.js'
import { compareSearch } from './compare-search.js'
import { configurationOf, type Configuration, type Item } from './configuration.js'
import { compareHttpRoads } from './http-roads.js'
import { uriOf } from './reference.js'

/** A gateway whose things, views and scopes are those of one random configuration after the other. */
export class RandomGateway {
  readonly #app: FastifyInstance
  readonly #setCaller: (identity: Identity) => void
  #tools: Tool[] = []
  #prompts: Prompt[] = []
  #resources: Resource[] = []

  /** In an application that says who calls, so that a caller is the same on every road. */
  static async open (t: Test): Promise<RandomGateway> {
    const current: { identity: Identity | null } = { identity: null }
    const app = await host(t, app => {
      app.decorateRequest('identity', null as never)
      app.addHook('onRequest', async request => { if (current.identity !== null) request.identity = current.identity })
    }, { tools: false, plugins: [], views: { some: {} }, pageSize: 1_000, rest: true })
    return new RandomGateway(app, identity => { current.identity = identity })
  }

  constructor (app: FastifyInstance, setCaller: (identity: Identity) => void) {
    this.#app = app
    this.#setCaller = setCaller
  }

  /** Finds what the gateway does otherwise than the reference, in the configuration of a seed. */
  async differences (seed: number): Promise<string[]> {
    const configuration = configurationOf(seed)
    await this.#configure(configuration, seed)
    const { view } = configuration
    const ask = this.#asker(configuration, view && 'some')
    const found: string[] = []
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      found.push(...await compareList(configuration, kind, ask))
      for (const road of ROADS) if (road.kind === kind) found.push(...await compareRoad(configuration, road, ask))
    }
    if (view !== undefined) found.push(...await compareSearch(configuration, this.#asker(configuration, 'searched')))
    found.push(...await compareHttpRoads(this.#app, configuration, seed, this.#setCaller))
    return found.map(each => `seed ${seed}: ${each}`)
  }

  /** Every other time the view is there before the things, so that it hears of each change. */
  async #configure ({ items, view = {}, operator, rules, rulesDefault }: Configuration, seed: number): Promise<void> {
    const { tools, prompts, resources, scopes, curation } = this.#app.mcp
    this.#app.mcp.rules.replace({ rules, rulesDefault })
    const views = { some: view, searched: { ...view, search: { limit: 50 } } }
    if (seed % 2 === 0) await curation.configure(views)
    const next = {
      tools: items.filter(({ kind }) => kind === 'tools').map(toolOf),
      prompts: items.filter(({ kind }) => kind === 'prompts').map(promptOf),
      resources: items.filter(({ kind }) => kind === 'resources').map(resourceOf)
    }
    const half = seed % 3
    tools.relay(this.#tools, next.tools.slice(half))
    tools.relay([], next.tools.slice(0, half))
    prompts.relay(this.#prompts, next.prompts)
    resources.relay(this.#resources, next.resources)
    ;[this.#tools, this.#prompts, this.#resources] = [next.tools, next.prompts, next.resources]
    scopes.replaceScopes(operator)
    await curation.configure(views)
  }

  #asker ({ granted, narrow, hasStatus, claims }: Configuration, view: string | undefined): Ask {
    const { dispatcher } = this.#app.mcp
    const identity: Identity = { principal: 'ada', scopes: new Set(granted), claims }
    const narrowing = narrowingOf(
      { tools: narrow.query?.join() },
      {
        'x-mcp-tools': narrow.tools?.join(),
        'x-mcp-exclude-tools': narrow.exclude?.join(),
        'x-mcp-toolsets': narrow.toolsets?.join(),
        'x-mcp-readonly': narrow.readonly === undefined ? undefined : String(narrow.readonly)
      }
    )
    const revision = revisionNamed(newestLegacy.version) ?? oldest
    return async (method, params = {}) =>
      await new Promise(resolve => {
        const peer = new Peer({ revision, identity, view })
        const incoming = dispatcher.decode(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
        dispatcher.receive(incoming, peer, {
          streams: false,
          hasStatus,
          narrowing,
          respond: text => resolve(JSON.parse(text) as Json),
          emit: () => {},
          end: () => {}
        })
      })
  }
}

const relayed = ({ upstream, own, canonical }: Item): object =>
  upstream === undefined ? {} : { upstream, ownName: own, scopeNames: [canonical] }

const bases = new Map<string, Tool>()

// The schema of a tool is compiled once.
function toolOf (item: Item): Tool {
  const { canonical, readOnly, scopes } = item
  const base = bases.get(canonical) ?? (tool({
    name: canonical,
    description: '',
    input: Type.Object({ index: Type.Optional(Type.String()) }),
    run: ({ index = '' }) => canonical + index
  }) as Tool)
  bases.set(canonical, base)
  return {
    ...base,
    scopes,
    listed: { ...base.listed, ...(readOnly !== undefined && { annotations: { readOnlyHint: readOnly } }) },
    ...relayed(item)
  }
}

function promptOf (item: Item): Prompt {
  const { canonical, scopes } = item
  const args = { a: { complete: () => [canonical] } }
  return { ...prompt({ name: canonical, arguments: args, get: () => canonical }), scopes, ...relayed(item) }
}

function resourceOf (item: Item): Resource {
  const { canonical, own, scopes, upstream } = item
  const made = resource({ uri: uriOf(item), name: own, read: () => canonical })
  return {
    ...made,
    scopes,
    ...(upstream !== undefined && { upstream, spellings: [canonical], scopeNames: [canonical, made.uri] })
  }
}
