import type { Json } from '../../../support/specification/message.js'
import { compareRoad, text, type Ask, type Road } from './compare-roads.js'
import { NEW_NAMES, type Configuration } from './configuration.js'
import { referenceOf, searchToolsOf } from './reference.js'
import { ruledOf } from './ruled.js'

/** The most names that are described at once. */
const MOST = 8

/** The way to a tool in a view with search. */
const BY_CALL_TOOL: Road = {
  kind: 'tools',
  method: 'tools/call',
  params: name => ({ name: 'call_tool', arguments: { name } }),
  used: ({ content }) => text((content as unknown[])[0])
}

/** In the same view with search, what is seen is found, described, and called by way of `call_tool`. */
export async function compareSearch (configuration: Configuration, ask: Ask): Promise<string[]> {
  const find = async (query: string): Promise<string[] | undefined> => {
    const { result } = await ask('tools/call', { name: 'find_tools', arguments: { query, limit: 50 } })
    const { structuredContent } = result as { structuredContent?: { tools: Array<{ name: string }> } } ?? {}
    return structuredContent?.tools.map(({ name }) => name)
  }
  const { tools } = (await ask('tools/list')).result as { tools: Json[] }
  const [listed, expected] = [tools.map(({ name }) => name).join(), searchToolsOf(configuration).join()]
  if (listed !== expected) return [`the view with search lists ${listed}, not ${expected}`]
  const found = [
    ...await compareByCall(configuration, expected, ask),
    ...await compareDescribed(configuration, expected, ask)
  ]
  const { isDenied } = ruledOf(configuration, { canonical: 'find_tools', readOnly: undefined }, undefined)
  if (isDenied || !expected.includes('find_tools')) {
    return await find('search') === undefined ? found : ['find_tools can be used']
  }
  const seen = referenceOf(configuration, 'tools').filter(({ fate }) => fate === 'seen')
  for (const { name, item: { canonical } } of seen) {
    for (const query of new Set([name, canonical])) {
      const hits = await find(query)
      if (hits?.includes(name) !== true) found.push(`${query} is not found by find_tools, but ${String(hits)}`)
    }
  }
  for (const query of ['search', 'lookup', 'read find', 'delete']) {
    const others = (await find(query))?.filter(hit => !seen.some(({ name }) => name === hit)) ?? []
    if (others.length > 0) found.push(`${others.join()} are found by ${query}`)
  }
  return found
}

/** Where the tool is not denied, which needs arguments of its own. */
async function compareByCall (configuration: Configuration, listed: string, ask: Ask): Promise<string[]> {
  const { isDenied } = ruledOf(configuration, { canonical: 'call_tool', readOnly: undefined }, undefined)
  return listed.includes('call_tool') && !isDenied ? await compareRoad(configuration, BY_CALL_TOOL, ask) : []
}

/** By its names, that of the view and the canonical one, each thing that is seen is described, and no other. */
async function compareDescribed (configuration: Configuration, listed: string, ask: Ask): Promise<string[]> {
  const { isDenied } = ruledOf(configuration, { canonical: 'describe_tools', readOnly: undefined }, undefined)
  if (!listed.includes('describe_tools') || isDenied) return []
  const reference = referenceOf(configuration, 'tools')
  const items = configuration.items.filter(({ kind }) => kind === 'tools')
  const names = [...new Set([...items.flatMap(({ canonical, own }) => [canonical, own]), ...NEW_NAMES])]
  const found: string[] = []
  for (let at = 0; at < names.length; at += MOST) {
    const asked = names.slice(at, at + MOST)
    const { result } = await ask('tools/call', { name: 'describe_tools', arguments: { names: asked } })
    const { structuredContent: { tools } } = result as { structuredContent: { tools: Json[] } }
    const expected = asked.flatMap(name => {
      const known = reference.find(each => each.name === name) ?? reference.find(({ item }) => item.canonical === name)
      return known?.fate === 'seen' ? [known.name] : []
    })
    const described = tools.map(({ name }) => name).join()
    if (described !== expected.join()) found.push(`of ${asked.join()} ${described} are described, not ${expected.join()}`)
  }
  return found
}
