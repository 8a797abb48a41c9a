import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../servers/catalogue.js'

const FOLDER = join(ROOT, 'test/plugins/curation/search/labelled/ten-servers')

/** A tool of the labelled set, under the name that the gateway gives it. */
export interface LabelledTool {
  name: string
  listed: {
    name: string
    title?: string
    description: string
    inputSchema: { properties: Record<string, { description?: string }> }
  }
  /** The length of the whole definition as JSON. */
  characters: number
}

/** A query with the tools that answer it: grade 2 for one that does what is asked, 1 for one that helps. */
export interface LabelledQuery { query: string, labels: Record<string, number> }

/** Queries as a person would speak, and as an agent would put them to `find_tools`. */
export type Group = 'person' | 'agent'

export interface Labelled { tools: LabelledTool[], queries: Record<Group, LabelledQuery[]> }

/** How well a ranker finds what was asked for: means over all queries. */
export interface Quality { recall1: number, recall5: number, reciprocalRank: number, gain5: number }

/** Returns the names of the tools that fit a query best, in order. */
export type Ranker = (query: string, limit: number) => string[]

interface ServerFile { alias: string, tools: Array<LabelledTool['listed'] & { characters: number }> }

/** Reads the labelled queries, and the tools of all servers. */
export function readLabelled (): Labelled {
  const read = <T>(file: string): T => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as T
  const files = readdirSync(FOLDER).filter(file => file.endsWith('.json') && !file.endsWith('.queries.json')).sort()
  const toolsOf = ({ alias, tools }: ServerFile): LabelledTool[] => tools.map(({ characters, ...listed }) => {
    const name = `${alias}__${listed.name}`
    return { name, listed: { ...listed, name }, characters }
  })
  const tools = files.flatMap(file => toolsOf(read<ServerFile>(file)))
  const queriesOf = (group: Group): LabelledQuery[] => read(`${group}.queries.json`)
  return { tools, queries: { person: queriesOf('person'), agent: queriesOf('agent') } }
}

/**
 * Measures a ranker. Recall is the share of the tools of grade 2 that are among the first; the rank is that of the
 * first of them among ten; the gain is normalised, discounted and cumulated over both grades (nDCG@5).
 */
export function qualityOf (queries: LabelledQuery[], ranker: Ranker): Quality {
  const each = queries.map(({ query, labels }) => {
    const found = ranker(query, 10)
    const wanted = Object.keys(labels).filter(name => labels[name] === 2)
    const recall = (most: number): number =>
      found.slice(0, most).filter(name => wanted.includes(name)).length / wanted.length
    const first = found.findIndex(name => wanted.includes(name))
    const gain = gainOf(found.map(name => labels[name] ?? 0)) / gainOf(Object.values(labels).sort((a, b) => b - a))
    return { recall1: recall(1), recall5: recall(5), reciprocalRank: first < 0 ? 0 : 1 / (first + 1), gain5: gain }
  })
  const mean = (member: keyof Quality): number => each.reduce((sum, quality) => sum + quality[member], 0) / each.length
  return { recall1: mean('recall1'), recall5: mean('recall5'), reciprocalRank: mean('reciprocalRank'), gain5: mean('gain5') }
}

const gainOf = (grades: number[]): number =>
  grades.slice(0, 5).reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)

/** As many tools as wanted: those of the labelled set again and again, of servers with other names. */
export function multiply (tools: LabelledTool[], count: number): LabelledTool[] {
  return Array.from({ length: count }, (_, at) => {
    const tool = tools[at % tools.length] as LabelledTool
    const name = `s${Math.floor(at / tools.length)}-${tool.name}`
    return { ...tool, name, listed: { ...tool.listed, name } }
  })
}
