import t from 'tap'
import { createClient, tool, type Client } from '../../../app.js'
import { includes, type ViewDefinition } from '../../../plugins/curation/views/selection.js'
import { chooseNames } from '../../../plugins/curation/views/projected.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { grants } from '../../../protocol/wire/identity.js'
import { gateway } from '../../support/gateway.js'

interface Item { canonical: string, own: string, upstream: string | undefined, readOnly: unknown, scopes: string[] | undefined }

/** Numbers that look random, and are the same for the same seed. */
function randomOf (seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

const ALIASES = ['one', 'two', 'three']
const NAMES = ['search', 'delete_all', 'read', 'write', 'find']
const PATTERNS = ['*', 'one__*', '*__delete_*', 'two__read', '*search', 'find', 't?o__*', '*e*', 'nothing', 'three__*d']
const SCOPES = ['mcp', 'a', 'b']

function some<T> (all: readonly T[], random: (below: number) => number): T[] {
  return all.filter(() => random(4) === 0)
}

function randomItems (random: (below: number) => number): Item[] {
  const all = [undefined, ...ALIASES].flatMap(upstream => NAMES.map(own => ({ upstream, own, canonical: upstream === undefined ? own : `${upstream}__${own}` })))
  return all.filter(() => random(2) === 0).map(item => ({ ...item, readOnly: [true, false, undefined, 'true'][random(4)], scopes: random(3) === 0 ? some(SCOPES, random) : undefined }))
}

function randomView (random: (below: number) => number): ViewDefinition {
  return {
    ...random(2) === 0 && { servers: some(ALIASES, random) },
    ...random(2) === 0 && { tools: some(PATTERNS, random) },
    ...random(2) === 0 && { exclude: some(PATTERNS, random) },
    ...random(3) === 0 && { readOnly: true },
    ...random(2) === 0 && { names: 'short' as const },
    ...random(3) === 0 && { scopes: some(SCOPES, random) },
    ...random(8) === 0 && { prompts: ['x'] }
  }
}

// The reference: written apart from the product, with regular expressions.
const fits = (patterns: readonly string[] | undefined, name: string): boolean => (patterns ?? []).some(pattern => new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(name))

/** The tools that a caller sees in a view, by their names there. */
function expected (items: Item[], view: ViewDefinition, granted: string[]): Map<string, Item> {
  const isNamed = view.servers !== undefined || [view.tools, view.prompts].some(list => (list ?? []).length > 0)
  const inView = items.filter(({ canonical, upstream, readOnly }) => {
    if (view.tools?.length === 0) return false
    const chosen = !isNamed || (upstream !== undefined && (view.servers ?? []).includes(upstream)) || fits(view.tools, canonical)
    return chosen && !fits(view.exclude, canonical) && (view.readOnly !== true || readOnly === true)
  })
  const clashes = (item: Item): boolean => inView.some(other => other !== item && other.own === item.own)
  const named = inView.map(item => [view.names === 'short' && !clashes(item) ? item.own : item.canonical, item] as const)
  const needed = ({ scopes = ['mcp'] }: Item): string[] => [...scopes, ...view.scopes ?? []]
  return new Map(named.filter(([, item]) => needed(item).every(scope => granted.includes(scope))))
}

const toolOf = ({ canonical, own, upstream, readOnly, scopes }: Item): Tool => ({
  ...tool({ name: canonical, description: '', annotations: { readOnlyHint: readOnly as boolean }, ...scopes !== undefined && { scopes }, run: () => canonical }),
  ...upstream !== undefined && { upstream, ownName: own, scopeNames: [canonical] }
})

t.test('10,000 random views and callers list what the reference lists', async t => {
  let wrong: unknown
  for (let seed = 1; seed <= 10_000 && wrong === undefined; seed++) {
    const random = randomOf(seed)
    const [items, view, granted] = [randomItems(random), randomView(random), some([...SCOPES, 'mcp', 'mcp'], random)]
    const tools = items.map(toolOf).filter(item => includes(view, 'tools', item))
    const { names } = chooseNames(tools, view.names === 'short', 'view')
    const seen = [...names].filter(([{ scopes = ['mcp'] }]) => grants({ principal: 'x', scopes: new Set(granted) }, [...scopes, ...view.scopes ?? []])).map(([, name]) => name).sort()
    const reference = [...expected(items, view, granted).keys()].sort()
    if (seen.join() !== reference.join()) wrong = { seed, items, view, granted, seen, reference }
  }
  t.equal(wrong, undefined)
})

/** What a name is answered with by a call: the tool that ran, or the text of the error without the name. */
async function called (client: Client, name: string): Promise<string> {
  return await client.call(name, {}).then(({ text }) => String(text), (error: { code: number, message: string }) => `${error.code} ${error.message.replace(/; did you mean.*/s, '').replaceAll(name, 'NAME')}`)
}

t.test('lists, calls and suggestions of a gateway whose views change agree with the reference', async t => {
  const app = await gateway(t, { tools: false, plugins: [], views: { some: {} } })
  let present: Tool[] = []
  for (let seed = 1; seed <= 150; seed++) {
    const random = randomOf(seed)
    const [items, view, granted] = [randomItems(random), randomView(random), [...new Set(some([...SCOPES, ...SCOPES, 'mcp'], random))]]
    const tools = items.map(toolOf)
    app.mcp.tools.relay(present, tools)
    present = tools
    await app.mcp.curation.configure({ some: view })
    const client = await createClient(app, { view: 'some', identity: { principal: 'ada', scopes: new Set(granted) } })
    const reference = expected(items, view, granted)
    const { tools: listed } = await client.request('tools/list') as { tools: Array<{ name: string }> }
    t.strictSame(listed.map(({ name }) => name), [...reference.keys()].sort(), `seed ${seed}: ${JSON.stringify({ view, granted })}`)
    const seen = new Set([...reference].flatMap(([name, { canonical }]) => [name, canonical]))
    for (const { canonical, own } of items) {
      for (const name of [canonical, own]) {
        const answer = await called(client, name)
        if (seen.has(name)) t.equal(answer, reference.get(name)?.canonical ?? canonical)
        else t.equal(answer, '-32602 Invalid params: Unknown tool: NAME')
      }
    }
    const suggested = await client.call('serch', {}).catch((error: Error) => error.message)
    for (const [, name = ''] of String(suggested).matchAll(/"([^"]+)"/g)) t.ok(reference.has(name), `${name} is suggested`)
    client.close()
  }
})
