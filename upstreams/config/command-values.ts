import { Semaphore } from '../../lib/semaphore.js'
import type { ServerEntry } from '../server-entry.js'
import { commandOutput, type CommandOptions } from '../../system/programs/command-output.js'
import type { Variables } from '../../system/variables.js'
import { Findings } from './findings.js'
import type { FoundServer } from './found-server.js'
import { toEntry } from './to-entry.js'

/** The texts that programs of `${command:…}` printed, by server as it is written, then by command line. */
export type KeptValues = Map<string, ReadonlyMap<string, string>>

/** Values and failures of the command lines of one server. */
export type CommandValues = ReadonlyMap<string, string | Error>

/** The most programs that run at once. */
const MAX_PROGRAMS = 8

const IN_CONFIG = 'or put the server into option mcpServers of a config file of your own'

/**
 * Runs the programs of `${command:…}` in servers, side by side, each once for its server. Values that are kept of a
 * server that is written as before are used again; those of others are forgotten. A failure is not kept.
 */
export async function runCommands (
  servers: readonly FoundServer[],
  variablesOf: (server: FoundServer) => Variables,
  kept: KeptValues
): Promise<Map<FoundServer, CommandValues>> {
  const programs = new Semaphore(MAX_PROGRAMS)
  const next: KeptValues = new Map()
  const found = await Promise.all(servers.map(async server => {
    const variables = variablesOf(server)
    const key = keyOf(server)
    const before = kept.get(key)
    const values = new Map(await Promise.all([...linesOf(server, variables)].map(async line => {
      const run = async (): Promise<string | Error> => await valueOf(line, server, variables)
      return [line, before?.get(line) ?? await programs.run(undefined, run)] as const
    })))
    next.set(key, new Map([...values].filter((each): each is [string, string] => typeof each[1] === 'string')))
    return [server, values] as const
  }))
  kept.clear()
  for (const [key, values] of next) kept.set(key, values)
  return new Map(found)
}

async function valueOf (line: string, { foreign }: FoundServer, options: CommandOptions): Promise<string | Error> {
  if (foreign !== undefined) {
    return new Error(`uses \${command:…}, which is run only in files of the operator, and ${foreign}; ${IN_CONFIG}`)
  }
  return await commandOutput(line, options).catch((error: Error) => error)
}

/** The command lines in the fields of a server that are used: it is read once without their values. */
function linesOf (server: FoundServer, variables: Variables): Set<string> {
  const lines = new Set<string>()
  const note = (line: string): string => {
    lines.add(line)
    return ''
  }
  const entry: ServerEntry | undefined =
    toEntry(server, { ...variables, command: note, onFile: () => {} }, { schemas: 'safe' }, new Findings())
  return entry?.disabled === true ? new Set() : lines
}

/** TOML has integers that JSON has not. */
const keyOf = ({ source, path, folder, values }: FoundServer): string =>
  JSON.stringify([source, path, folder ?? null, values], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value)
