import { nearestName } from '../../lib/nearest-name.js'
import type { Mistake } from '../../options/mistakes.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Findings } from './findings.js'
import type { Document } from '../../system/documents/document.js'
import type { FoundServer } from './found-server.js'

/** Where clients keep their servers. */
const ROOTS = [
  ['mcpServers'],
  ['servers'],
  ['mcp_servers'],
  ['context_servers'],
  ['mcp', 'servers'],
  ['mcp', 'mcpServers'],
  ['experimental', 'modelContextProtocolServers']
]

/** The most servers of one configuration: each is checked, named and started. */
const MAX_SERVERS = 1_000

interface Place {
  readonly file: string
  readonly folder: string
  readonly findings: Findings
}

interface Named { readonly name: string, readonly values: unknown, readonly path: string[], readonly folder: string }

/**
 * All servers of a document, whichever client it belongs to. A document without any is a warning, or a mistake if the
 * name of the list is misspelt.
 */
export function findServers (document: Document, { file, folder, findings }: Place): FoundServer[] {
  const { value, lineOf } = document
  if (!isObject(value)) throw new Error('it must hold an object with the servers')
  const lists = ROOTS.filter(root => at(value, root) !== undefined)
  const named = [...lists.flatMap(root => serversAt(value, root, folder)), ...projectServers(value)]
  if (lists.length === 0 && named.length === 0) reportNone(file, value, findings)
  const excess = tooMany(named.length + lists.reduce((sum, list) => sum + (document.repeatedAt?.(list).length ?? 0), 0))
  if (excess !== undefined) throw new Error(excess)
  const repeated = reportRepeated(file, document, lists, findings)
  const inputs = inputsOf(value)
  const sandboxEnabled = at(value, ['sandboxEnabled'])
  return named
    .filter(({ path }) => !repeated.has(path.join('\n')))
    .map(server => ({
      ...server,
      values: sandboxEnabled === undefined || !isObject(server.values)
        ? server.values
        : { sandboxEnabled, ...server.values },
      source: file,
      inputs,
      lenient: server.path[0] === 'servers' || server.path[0] === 'mcp',
      lineOf
    }))
}

/** A sentence where a configuration has more servers than can be served. */
export const tooMany = (servers: number): string | undefined =>
  servers > MAX_SERVERS
    ? `it has ${servers} servers, and one gateway serves at most ${MAX_SERVERS}; remove those that are not needed, or divide them among several gateways`
    : undefined

function at (value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value
  )
}

/** The servers of an object by name, or of a list of servers that have a `name`. */
function serversAt (value: unknown, root: string[], folder: string): Named[] {
  const servers = at(value, root)
  if (Array.isArray(servers)) {
    return servers.map((values: unknown, index) => ({
      name: nameOf(values, index),
      values,
      path: [...root, String(index)],
      folder
    }))
  }
  if (isObject(servers)) {
    return Object.entries(servers).map(([name, values]) => ({ name, values, path: [...root, name], folder }))
  }
  if (servers === undefined || servers === null) return []
  throw new Error(`${root.join('.')} must be an object with the servers by name`)
}

function nameOf (values: unknown, index: number): string {
  return isObject(values) && typeof values['name'] === 'string' ? values['name'] : `server-${index + 1}`
}

/**
 * The servers that Claude Code keeps for one project each, in the file of the user. They run in the folder of their
 * project.
 */
function projectServers (value: Record<string, unknown>): Named[] {
  const projects = at(value, ['projects'])
  return isObject(projects)
    ? Object.keys(projects).flatMap(folder => serversAt(value, ['projects', folder, 'mcpServers'], folder))
    : []
}

/**
 * Of two members with one name a client silently uses the last. Returns the paths of servers that are there twice, and
 * are left out.
 */
function reportRepeated (
  file: string,
  { repeatedAt = () => [] }: Document,
  lists: readonly string[][],
  findings: Findings
): Set<string> {
  const mistake = (line: number, text: string): Mistake => ({ path: '', text: `${file}, line ${line}: ${text}` })
  for (const { name, line } of repeatedAt([])) {
    if (lists.some(([first]) => first === name)) {
      findings.mistakes.push(mistake(line, `"${name}" is there twice; put all servers into one`))
    }
  }
  const repeated = lists.flatMap(list =>
    repeatedAt(list).map(({ name, line }) => ({ name, line, path: [...list, name].join('\n') }))
  )
  for (const { name, line } of repeated) {
    findings.leaveOut(name, mistake(line, `server "${name}" is there twice; rename or remove one of them`))
  }
  return new Set(repeated.map(({ path }) => path))
}

function reportNone (file: string, value: Record<string, unknown>, findings: Findings): void {
  const names = ROOTS.map(([name = '']) => name)
  const misspelt = Object.keys(value).find(name => nearestName(name, names) !== undefined)
  const bare = Object.keys(value).find(
    name => isObject(value[name]) && ['command', 'url'].some(field => typeof at(value, [name, field]) === 'string')
  )
  if (['command', 'url'].some(field => typeof value[field] === 'string')) {
    findings.mistakes.push({
      path: '',
      text: `${file} is one server without a name; put it into an object: {"mcpServers":{"NAME":{…}}}`
    })
  } else if (bare !== undefined) {
    findings.mistakes.push({
      path: '',
      text: `${file} has no servers; put "${bare}", and others that are servers, into an object "mcpServers"`
    })
  } else if (misspelt === undefined) {
    findings.warnings.push(`${file} has no servers: none of ${ROOTS.slice(0, 4).join(', ')} is in it`)
  } else {
    findings.mistakes.push({
      path: '',
      text: `${file} has no servers; did you mean "${nearestName(misspelt, names)}" where it has "${misspelt}"?`
    })
  }
}

/** The defaults of the questions that VS Code asks its user. */
function inputsOf (value: Record<string, unknown>): Map<string, string> {
  const inputs = [at(value, ['inputs']), at(value, ['mcp', 'inputs'])].flatMap(list =>
    Array.isArray(list) ? (list as unknown[]) : []
  )
  return new Map(
    inputs.flatMap(input =>
      isObject(input) && typeof input['id'] === 'string' && typeof input['default'] === 'string'
        ? [[input['id'], input['default']] as const]
        : []
    )
  )
}
