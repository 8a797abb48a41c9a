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
import { gateway } from '../../../support/gateway.js'
import type { Json } from '../../../support/specification/message.js'
import { newestLegacy } from '../../../support/specification/revisions.js'
import { configurationOf, NEW_NAMES, type Configuration, type Item, type Kind } from './configuration.js'
import { answerOf, referenceOf, uriOf } from './reference.js'

type Ask = (method: string, params?: Json) => Promise<Json>

/** A way to use a thing by its name: it answers with the canonical name of what was used. */
interface Road {
  readonly kind: Kind
  readonly method: string
  readonly params: (name: string) => Json
  readonly used: (result: Json) => unknown
}

const text = (value: unknown): unknown => (value as Json | undefined)?.text

/** All ways to use a thing. What is used by another way has to have a row here. */
const ROADS: Road[] = [
  {
    kind: 'tools',
    method: 'tools/call',
    params: name => ({ name }),
    used: ({ content }) => text((content as unknown[])[0])
  },
  {
    kind: 'prompts',
    method: 'prompts/get',
    params: name => ({ name }),
    used: ({ messages }) => text((messages as Json[])[0]?.content)
  },
  {
    kind: 'prompts',
    method: 'completion/complete',
    params: name => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } }),
    used: ({ completion }) => (completion as { values: string[] }).values[0]
  },
  {
    kind: 'resources',
    method: 'resources/read',
    params: uri => ({ uri }),
    used: ({ contents }) => text((contents as unknown[])[0])
  }
]

const LISTS: Record<Kind, { method: string, key: 'name' | 'uri' }> = {
  tools: { method: 'tools/list', key: 'name' },
  prompts: { method: 'prompts/list', key: 'name' },
  resources: { method: 'resources/list', key: 'uri' }
}

const MISSING = 'xyzzy'

/** A gateway whose things, views and scopes are those of one random configuration after the other. */
export class RandomGateway {
  readonly #app: FastifyInstance
  #tools: Tool[] = []
  #prompts: Prompt[] = []
  #resources: Resource[] = []

  static async open (t: Test): Promise<RandomGateway> {
    return new RandomGateway(await gateway(t, { tools: false, plugins: [], views: { some: {} }, pageSize: 1_000 }))
  }

  constructor (app: FastifyInstance) {
    this.#app = app
  }

  /** Finds what the gateway does otherwise than the reference, in the configuration of a seed. */
  async differences (seed: number): Promise<string[]> {
    const configuration = configurationOf(seed)
    await this.#configure(configuration, seed)
    const ask = this.#asker(configuration)
    const found: string[] = []
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      found.push(...await compareList(configuration, kind, ask))
      for (const road of ROADS) if (road.kind === kind) found.push(...await compareRoad(configuration, road, ask))
    }
    return found.map(each => `seed ${seed}: ${each}`)
  }

  /** Every other time the view is there before the things, so that it hears of each change. */
  async #configure ({ items, view = {}, operator }: Configuration, seed: number): Promise<void> {
    const { tools, prompts, resources, scopes, curation } = this.#app.mcp
    if (seed % 2 === 0) await curation.configure({ some: view })
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
    await curation.configure({ some: view })
  }

  #asker ({ view, granted, narrow, hasStatus }: Configuration): Ask {
    const { dispatcher } = this.#app.mcp
    const identity: Identity = { principal: 'ada', scopes: new Set(granted) }
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
        const peer = new Peer({ revision, identity, view: view === undefined ? undefined : 'some' })
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

async function compareList (configuration: Configuration, kind: Kind, ask: Ask): Promise<string[]> {
  const { method, key } = LISTS[kind]
  const { result } = await ask(method)
  const listed = ((result as Json)[kind] as Json[]).map(entry => entry[key]).join()
  const expected = referenceOf(configuration, kind).filter(({ fate }) => fate === 'seen').map(({ name }) => name)
  return listed === expected.sort().join() ? [] : [`${method} has ${listed}, not ${expected.join()}`]
}

async function compareRoad (configuration: Configuration, road: Road, ask: Ask): Promise<string[]> {
  const reference = referenceOf(configuration, road.kind)
  const seen = new Set(reference.filter(({ fate }) => fate === 'seen').map(({ name }) => name))
  const missing = await use(road, MISSING, ask)
  const found: string[] = []
  const names = configuration.items
    .filter(({ kind }) => kind === road.kind)
    .flatMap(item => [item.canonical, item.kind === 'resources' ? uriOf(item) : item.own])
  for (const name of new Set([...names, ...NEW_NAMES, 'serch'])) {
    const { item, fate } = reference.find(each => each.name === name) ??
      reference.find(({ item }) => item.canonical === name) ?? { item: undefined, fate: 'unknown' as const }
    const { answer, suggested } = await use(road, name, ask)
    const own = item && answerOf(item, configuration.view)
    const expected = { seen: own, forbidden: 'forbidden', unknown: missing.answer }[fate]
    if (answer !== expected) found.push(`${road.method} ${name} answers ${answer}, not ${expected}`)
    found.push(...suggested.filter(each => !seen.has(each)).map(each => `${name}: ${each} is suggested`))
  }
  return found
}

/** The name of what was used, or the error without the name and without what it suggests. */
async function use (road: Road, name: string, ask: Ask): Promise<{ answer: unknown, suggested: string[] }> {
  const { result, error } = (await ask(road.method, road.params(name))) as { result?: Json, error?: Json }
  if (result !== undefined) return { answer: road.used(result), suggested: [] }
  if (String(error?.message).startsWith('Forbidden')) return { answer: 'forbidden', suggested: [] }
  const whole = JSON.stringify(error)
  const [suggestion = ''] = /; did you mean .*?\?/.exec(String(error?.message)) ?? []
  const suggested = [...suggestion.matchAll(/"([^"]+)"/g)].map(([, each = '']) => each)
  const answer = whole.replace(JSON.stringify(suggestion).slice(1, -1), '').replaceAll(name, 'NAME')
  return { answer, suggested }
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
