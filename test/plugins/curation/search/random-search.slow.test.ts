import t from 'tap'
import { createClient, tool, type Client } from '../../../../app.js'
import type { ViewDefinition } from '../../../../plugins/curation/views/selection.js'
import type { Tool } from '../../../../protocol/definitions/tool.js'
import { gateway } from '../../../support/gateway.js'
import { listed } from '../../../upstreams/lists/served.js'
import { failure, found, indirect } from './searchable.js'

type Random = (below: number) => number

/** Numbers that look random, and are the same for the same seed. */
function randomOf (seed: number): Random {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

const ALIASES = ['one', 'two', 'three']
const NAMES = ['search', 'delete_all', 'read', 'write', 'find_tools', 'call_tool']
const PATTERNS = ['*', 'one__*', '*__delete_*', 'two__read', '*search', '*e*', 'nothing', 'three__*d']
const SCOPES = ['mcp', 'a', 'b']
const SEARCH = new Set(['find_tools', 'describe_tools', 'call_tool'])

const some = <T>(all: readonly T[], random: Random): T[] => all.filter(() => random(3) === 0)

function randomTools (random: Random): Tool[] {
  const all = ALIASES.flatMap(upstream => NAMES.map(own => ({ upstream, own })))
  return all.filter(() => random(2) === 0).map(({ upstream, own }) => {
    const name = `${upstream}__${own}`
    const scopes = random(3) === 0 ? { scopes: some(SCOPES, random) } : {}
    const annotations = { readOnlyHint: random(2) === 0 }
    const made = tool({ name, description: `Does ${own}`, annotations, ...scopes, run: () => name })
    return { ...made, upstream, ownName: own, scopeNames: [name] }
  })
}

function randomView (random: Random): ViewDefinition {
  return {
    ...random(2) === 0 && { servers: some(ALIASES, random) },
    ...random(2) === 0 && { tools: some(PATTERNS, random) },
    ...random(2) === 0 && { exclude: some(PATTERNS, random) },
    ...random(3) === 0 && { readOnly: true },
    ...random(3) === 0 && { scopes: some(SCOPES, random) }
  }
}

/** The answer to a call in its own words: the text, or the error without the name and what was suggested. */
async function answer (client: Client, params: Record<string, unknown>, name: string): Promise<string> {
  const failed = await failure(client, params)
  if (failed === undefined) return JSON.stringify(await client.request('tools/call', params))
  return JSON.stringify(failed).replace(/; did you mean[^?]*\?/, '').replaceAll(name, 'NAME')
}

t.test('random views with search find and call what the same views without it list and call', async t => {
  const app = await gateway(t, { tools: false, plugins: [], views: { plain: {}, searched: { search: true } } })
  let present: Tool[] = []
  for (let seed = 1; seed <= 100; seed++) {
    const random = randomOf(seed)
    const [tools, view, always] = [randomTools(random), randomView(random), some(PATTERNS, random)]
    const granted = new Set(['mcp', ...view.scopes ?? [], ...some(SCOPES, random)])
    app.mcp.tools.relay(present, tools)
    present = tools
    await app.mcp.curation.configure({ plain: view, searched: { ...view, search: { always, limit: 50 } } })
    const identity = { principal: 'ada', scopes: granted }
    const plain = await createClient(app, { view: 'plain', identity })
    const searched = await createClient(app, { view: 'searched', identity })
    const inPlain = await listed(plain, 'tools/list', 'tools', 'name')
    const inSearched = await listed(searched, 'tools/list', 'tools', 'name')
    const patterns = always.map(pattern => new RegExp(`^${pattern.replaceAll('*', '.*')}$`))
    const fits = (name: unknown): boolean => patterns.some(pattern => pattern.test(String(name)))
    const what = `seed ${seed}: ${JSON.stringify({ view, always, granted: [...granted] })}`
    t.strictSame(inSearched, [...SEARCH, ...inPlain.filter(fits)].sort(), what)
    for (const { name, ownName = '' } of tools) {
      for (const query of [name, ownName]) {
        const hits = await found(searched, query)
        t.ok(hits.every(hit => inPlain.includes(hit)), what)
        t.equal(hits.includes(name), inPlain.includes(name), `${query}, ${what}`)
      }
      const direct = await answer(plain, { name }, name)
      t.equal(await answer(searched, { name }, name), direct, what)
      t.equal(await answer(searched, indirect(name), name), direct, what)
    }
    plain.close()
    searched.close()
  }
})
