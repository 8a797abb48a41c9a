import { createRequire } from 'node:module'
import { join } from 'node:path'
import { stemmer } from 'stemmer'
import { rank } from '../../plugins/curation/search/ranker.js'
import { signatureOf } from '../../plugins/curation/search/signature.js'
import { divider, termsOf, WEIGHTS, type TermsOf } from '../../plugins/curation/search/terms.js'
import { ToolIndex } from '../../plugins/curation/search/tool-index.js'
import type { Finding, Question } from '../measure/goal.js'
import { multiply, qualityOf, readLabelled, type Group, type Labelled, type LabelledQuery, type LabelledTool, type Quality, type Ranker } from '../measure/ranking.js'
import { short, spreadOf } from '../measure/statistics.js'
import { longestTurn } from '../measure/turns.js'
import { PACKAGES } from '../servers/catalogue.js'

const MANY = 5_000
const HITS = 8

/** A ranker, with how long it takes to index many tools and to answer a query, in milliseconds. */
interface Measured { name: string, quality: Record<Group, Quality>, indexing: number, query: number }

/** Makes a ranker of tools. */
type Make = (tools: LabelledTool[]) => Promise<Ranker> | Ranker

/** Measures what search finds of what was asked for, and what it costs, beside minisearch. */
export const search: Question = async ({ peers, rounds, say }) => {
  const labelled = readLabelled()
  const makers: Record<string, Make> = { Patchbay: tools => ours(tools), 'Patchbay without stems': tools => ours(tools, divider(word => word)), ...peers ? minisearches() : {} }
  // First, as the garbage of the others would be collected in its turns.
  const longest = await turns(labelled.tools, rounds)
  const measured: Measured[] = []
  for (const [name, make] of Object.entries(makers)) {
    say(`search, ${name}`)
    measured.push(await measure(name, make, labelled))
  }
  const [first, ...others] = measured as [Measured, ...Measured[]]
  const row = (what: string, figure: (measured: Measured) => number, of: string, goal?: string): Finding => ({
    what: `search, ${what}`,
    ...(goal === undefined ? {} : { goal }),
    ours: spreadOf([figure(first)]),
    limit: of,
    peers: others.map(peer => ({ name: peer.name, figure: spreadOf([figure(peer)]) }))
  })
  const rowsOf = (group: Group, asked: string, goal?: string): Finding[] => {
    const of = `${labelled.queries[group].length} queries, ${labelled.tools.length} tools`
    return [
      row(`${asked}: recall@1`, ({ quality }) => quality[group].recall1, of),
      row(`${asked}: recall@5`, ({ quality }) => quality[group].recall5, of, goal),
      row(`${asked}: MRR`, ({ quality }) => quality[group].reciprocalRank, of),
      row(`${asked}: nDCG@5`, ({ quality }) => quality[group].gain5, of)
    ]
  }
  return [
    ...rowsOf('agent', 'asked by an agent', '≥ 0.65'),
    ...rowsOf('person', 'asked as a person speaks'),
    row('a query, ms', ({ query }) => query, `${MANY} tools`, '≤ 1 ms'),
    row('indexing, ms', ({ indexing }) => indexing, `${MANY} tools`),
    longest,
    ...await tokens(labelled.tools, allOf(labelled))
  ]
}

async function ours (tools: LabelledTool[], divide: TermsOf = termsOf): Promise<Ranker> {
  const index = new ToolIndex(WEIGHTS, divide)
  index.change([], tools)
  await index.settled()
  return (query, limit) => rank(index, query, limit, () => true)
}

/** minisearch with its own words and with our stems, each with our weights, and as its guide shows it for typing. */
function minisearches (): Record<string, Make> {
  const MiniSearch = createRequire(join(PACKAGES, 'package.json'))('minisearch') as new (options: object) => MiniSearchLike
  const { name, server, title, description, argument, argumentDescription } = WEIGHTS
  const boost = { name, server, title, description, argument, argumentDescription }
  const stems = { processTerm: (term: string) => stemmer(term.toLowerCase()) }
  const maker = (options: object, searchOptions: object): Make => tools => {
    const index = new MiniSearch({ idField: 'id', fields: Object.keys(boost), ...options, searchOptions: { boost, ...searchOptions } })
    index.addAll(tools.map(fieldsOf))
    return (query, limit) => index.search(query).slice(0, limit).map(({ id }) => id)
  }
  return {
    minisearch: maker({}, {}),
    'minisearch with stems': maker(stems, stems),
    'minisearch with prefixes and typing errors': maker({}, { prefix: true, fuzzy: 0.2 })
  }
}

interface MiniSearchLike { addAll: (documents: object[]) => void, search: (query: string) => Array<{ id: string }> }

function fieldsOf ({ name: id, listed: { title, description, inputSchema: { properties } } }: LabelledTool): object {
  const [server, name] = id.split('__')
  const argumentDescription = Object.values(properties).map(({ description }) => description).join('\n')
  return { id, server, name, title, description, argument: Object.keys(properties).join(' '), argumentDescription }
}

const allOf = ({ queries: { person, agent } }: Labelled): LabelledQuery[] => [...person, ...agent]

async function measure (name: string, make: Make, labelled: Labelled): Promise<Measured> {
  const { tools, queries: { person, agent } } = labelled
  const few = await make(tools)
  const quality = { person: qualityOf(person, few), agent: qualityOf(agent, few) }
  const queries = allOf(labelled)
  const many = multiply(tools, MANY)
  const begun = performance.now()
  const ranker = await make(many)
  const indexing = performance.now() - begun
  for (const { query } of queries) ranker(query, HITS)
  const asked = performance.now()
  for (const { query } of queries) ranker(query, HITS)
  return { name, quality, indexing, query: (performance.now() - asked) / queries.length }
}

async function turns (tools: LabelledTool[], rounds: number): Promise<Finding> {
  const many = multiply(tools, MANY)
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) samples.push(await longestTurn(async () => await ours(many)))
  return { what: 'search, longest turn of the event loop while indexing, ms', goal: '≤ 20 ms', ours: spreadOf(samples), limit: `${MANY} tools`, peers: [] }
}

/** The estimated tokens of a reply: a quarter of its characters. */
async function tokens (tools: LabelledTool[], queries: LabelledQuery[]): Promise<Finding[]> {
  const ranker = await ours(tools)
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  const found = queries.flatMap(({ query }) => ranker(query, HITS).flatMap(name => byName.get(name) ?? []))
  const perQuery = (sum: number): number => sum / 4 / queries.length
  const lengths = found.map(({ name, listed }) => signatureOf(name, listed).text.length + 1)
  const signatures = perQuery(lengths.reduce((sum, length) => sum + length, 0))
  const definitions = perQuery(found.reduce((sum, { characters }) => sum + characters + 1, 0))
  const list = tools.reduce((sum, { characters }) => sum + characters + 1, 0) / 4
  const limit = `${short(definitions)} of their definitions, ${short(list)} of the whole list`
  return [{ what: `search, tokens of ${HITS} signatures (estimate)`, ours: spreadOf([signatures]), limit, peers: [] }]
}
