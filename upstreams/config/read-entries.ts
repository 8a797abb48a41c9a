import { isDeepStrictEqual } from 'node:util'
import { OptionsError } from '../../options/mistakes.js'
import type { Environment } from '../../system/environment.js'
import type { ServerEntry } from '../server-entry.js'
import { hasCommands, type Variables } from '../../system/variables.js'
import type { CommandValues, KeptValues } from './command-values.js'
import { Findings, type LeftOut } from './findings.js'
import { tooMany } from './find-servers.js'
import type { FoundServer, OfAllServers } from './found-server.js'
import { isGatewayItself, type Listening } from './is-gateway-itself.js'
import { describeNesting } from './nesting.js'
import { toEntry } from './to-entry.js'

/** The options that name upstream servers. */
export interface UpstreamSources extends Listening, OfAllServers {
  readonly mcpServers: Readonly<Record<string, unknown>>
  readonly mcpConfig: readonly string[]
  readonly maxMcpConfig: number
}

/** The surroundings that variables and relative paths are about. */
export interface Surroundings {
  readonly env: Environment
  readonly home: string | undefined
  readonly cwd: string
  /** Says why a file is not the operator's own; without it none is. */
  readonly describeForeign?: (file: string, home: string | undefined) => string | undefined
}

export interface ReadEntries {
  readonly entries: ServerEntry[]
  /** The servers that have mistakes. */
  readonly leftOut: LeftOut[]
  /** One sentence each; no secrets. */
  readonly warnings: string[]
  /** Every file that was read, and those that were looked for. */
  readonly files: string[]
}

const NOT_KNOWN = 'it is not known whose the file is'

/**
 * The upstream servers of the options and of the files that they name. One that has a mistake is left out. Throws an
 * OptionsError where a whole file cannot be used, with what is wrong with the servers of the others, too. `kept` has
 * the values of `${command:…}` from one time to the next.
 */
export async function readEntries (
  { mcpServers, mcpConfig, maxMcpConfig: maxFile, schemas, pins, ...listening }: UpstreamSources,
  { env, home, cwd, describeForeign = () => NOT_KNOWN }: Surroundings,
  kept: KeptValues = new Map()
): Promise<ReadEntries> {
  const findings = new Findings()
  const files = new Set<string>()
  const onFile = (file: string): void => {
    files.add(file)
  }
  const found = optionServers(mcpServers)
  // The parsers are loaded only where there is a file to read.
  const { readClientFile } = mcpConfig.length === 0 ? {} : await import('./client-file.js')
  for (const file of new Set(mcpConfig)) {
    found.push(...((await readClientFile?.(file, { home, maxFile, onFile, findings, describeForeign })) ?? []))
  }
  const excess = tooMany(found.length)
  if (excess !== undefined) {
    throw new OptionsError([{ path: 'mcpServers', text: `the configuration in all: ${excess}` }])
  }
  const variablesOf = ({ folder = cwd, inputs }: FoundServer): Variables =>
    ({ env, home, folder, inputs, maxFile, onFile })
  const commands = await commandsIn(found, variablesOf, kept)
  const read = found.flatMap(server => {
    const before = findings.count
    const entry = toEntry(
      server,
      { ...variablesOf(server), command: line => valueOf(commands.get(server)?.get(line)) },
      { schemas, pins },
      findings
    )
    if (entry === undefined || findings.count > before) return []
    const why = isGatewayItself(entry.address, mcpConfig, home, listening)
      ? 'is this gateway itself; it is left out'
      : describeNesting(entry.address, env)
    if (why === undefined) return [{ server, entry }]
    findings.warn(server, '', why)
    return []
  })
  const entries = withoutRepeated(read, findings)
  const { mistakes, leftOut, warnings } = findings
  if (mistakes.length > 0) throw new OptionsError([...mistakes, ...leftOut.flatMap(server => server.mistakes)])
  return { entries, leftOut, warnings, files: [...files] }
}

/** Programs are run only where a server names one, and nothing of that is loaded where none does. */
async function commandsIn (
  found: readonly FoundServer[],
  variablesOf: (server: FoundServer) => Variables,
  kept: KeptValues
): Promise<ReadonlyMap<FoundServer, CommandValues>> {
  const servers = found.filter(({ values }) => hasCommands(values))
  if (servers.length === 0) kept.clear()
  return servers.length === 0
    ? new Map()
    : await (await import('./command-values.js')).runCommands(servers, variablesOf, kept)
}

function valueOf (value: string | Error = ''): string {
  if (typeof value !== 'string') throw value
  return value
}

function optionServers (servers: Readonly<Record<string, unknown>>): FoundServer[] {
  return Object.entries(servers).map(([name, values]) => ({
    name,
    values,
    source: 'option mcpServers',
    path: ['mcpServers', name],
    folder: undefined,
    inputs: new Map(),
    lenient: false,
    lineOf: () => undefined
  }))
}

interface Read { readonly server: FoundServer, readonly entry: ServerEntry }

/**
 * Two servers with one alias are a mistake, unless they are the same server in two files, or one of them is disabled,
 * which gives way.
 */
function withoutRepeated (read: Read[], findings: Findings): ServerEntry[] {
  const kept = new Map<string, Read>()
  for (const one of read) {
    const { entry } = one
    const first = kept.get(entry.alias)
    if (first === undefined || (first.entry.disabled && !entry.disabled)) kept.set(entry.alias, one)
    else if (!entry.disabled && !isSame(first, one)) reportRepeated(first.entry, one, findings)
  }
  return [...kept.values()].map(({ entry }) => entry)
}

/** One file may have the same name for two projects, of which its client would use one at a time. */
function reportRepeated (first: ServerEntry, { server, entry }: Read, findings: Findings): void {
  if (first.source === entry.source && server.path[0] === 'projects') {
    findings.warn(
      server,
      '',
      `of the project ${server.path[1] ?? ''} is left out, because the file has another server of that name`
    )
  } else {
    findings.mistake(
      server,
      '',
      `has the same name in URLs and tools, "${entry.alias}", as "${first.name}" (${first.source}); rename or remove one of them`
    )
  }
}

const isSame = (one: Read, other: Read): boolean => isDeepStrictEqual(essence(one), essence(other))

/**
 * The part of an entry that tells it from others. The folder of the file is part of it only where something is relative
 * to it.
 */
function essence ({ server, entry: { source, name, address, ...rest } }: Read): object {
  if (address.kind !== 'stdio' || address.cwd !== server.folder) return { ...rest, address }
  const isRelative = [address.command, ...address.args].some(word => word.startsWith('.'))
  return { ...rest, address: isRelative ? address : { ...address, cwd: undefined } }
}
