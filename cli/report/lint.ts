import { pino } from 'pino'
import type { FastifyInstance } from 'fastify'
import { didYouMean } from '../../lib/nearest-name.js'
import { visible } from '../../lib/one-line.js'
import { flatten, type Options } from '../../options.js'
import { OptionsError } from '../../options/mistakes.js'
import { describeStartError } from '../process/start-error.js'

export interface Linted {
  /** The text about each server, for a terminal. */
  report: string
  /**
   * True when something is missing: a server or one of its lists, or what a server lists. What was repaired is not
   * missing.
   */
  isIncomplete: boolean
}

interface Linting {
  /** The alias or the name of the only server that is wanted. */
  server: string | undefined
  /** Adds to an error where the options it is about were set. */
  locate: (error: Error) => Error
  /** Ends it early. */
  signal: AbortSignal
}

type ServerEntry = Awaited<ReturnType<FastifyInstance['mcp']['upstreams']['read']>>['entries'][number]

/** Lines about one server; the first one names it. */
interface Finding { lines: string[], isIncomplete: boolean }

/**
 * Starts the configured upstream servers, reads their lists, stops them, and says what clients would refuse of them,
 * what was repaired and what was left out. Nothing is listened on or written. Throws a sentence if there is no such
 * server.
 */
export async function lint (options: Options, { server, locate, signal }: Linting): Promise<Linted> {
  const { build } = await import('../../app.js')
  const { redis, tls, ...local } = options
  const app = await build(
    { ...local, ephemeral: true, reload: false, roots: [], plugins: [], mcpServers: {}, mcpConfig: [] },
    { loggerInstance: pino({ level: 'silent' }) }
  )
  // Timers of the gateway keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    await app.ready()
    const { entries, leftOut } = await app.mcp.upstreams.read(flatten(options))
    const isWanted = ({ alias, name }: { alias: string, name: string }): boolean =>
      server === undefined || alias === server || name === server
    const [chosen, mistaken] = [entries.filter(isWanted), leftOut.filter(isWanted)]
    if (server !== undefined && chosen.length + mistaken.length === 0) {
      throw new Error(
        `there is no upstream server "${server}"${
          didYouMean(
            server,
            [...entries, ...leftOut].map(({ alias }) => alias)
          ) || '; see patchbay --check'
        }`
      )
    }
    // All are started, and what is listed as it was sent is looked into like the rest.
    await app.mcp.upstreams.configure(
      chosen.map(entry => ({ ...entry, start: 'eager', idle: undefined, schemas: 'safe' }))
    )
    const findings = [
      ...(await Promise.all(chosen.map(async entry => await lintServer(app, entry, signal)))),
      ...mistaken.map(({ alias, mistakes }) =>
        incomplete(
          `${alias}: left out of the configuration`,
          describeStartError(locate(new OptionsError(mistakes)), false)
        )
      )
    ]
    return {
      report:
        findings.length === 0
          ? 'No upstream servers are configured.\n'
          : findings.map(({ lines }) => `${lines.join('\n')}\n`).join(''),
      isIncomplete: findings.some(({ isIncomplete }) => isIncomplete)
    }
  } finally {
    await app.close()
    clearInterval(alive)
  }
}

async function lintServer (
  { mcp: { upstreams } }: FastifyInstance,
  { alias, disabled, schemas }: ServerEntry,
  signal: AbortSignal
): Promise<Finding> {
  if (disabled) return { lines: [`${alias}: disabled, not started`], isIncomplete: false }
  const isRead = await upstreams.readLists(alias, signal).then(
    () => true,
    () => false
  )
  signal.throwIfAborted()
  const status = upstreams.status().find(known => known.alias === alias)
  const { lastError = 'it did not start', warnings = [], tools = 0 } = status ?? {}
  const repairs = upstreams.repairs(alias)
  const details = [
    ...warnings.filter(sentence => isRead || sentence !== lastError),
    ...repairs.flatMap(({ noun, name, changes }) =>
      changes.map(
        change => `${noun} "${name}" ${schemas === 'safe' ? 'repaired' : 'not repaired (schemas: as-is)'}: ${change}`
      )
    )
  ]
  if (!isRead) {
    return incomplete(`${alias}: could not be read: ${lastError}`, [
      ...details,
      ...(upstreams.get(alias)?.lastLines() ?? []).map(line => `| ${line}`)
    ])
  }
  const counts = [
    `${tools} ${tools === 1 ? 'tool' : 'tools'}`,
    ...(repairs.length === 0
      ? []
      : [`${repairs.length} ${schemas === 'safe' ? 'repaired' : 'that some clients refuse'}`]),
    ...(warnings.length === 0 ? [] : [`${warnings.length} left out or hidden`])
  ]
  const found = `${alias}: ${counts.join(', ')}${details.length === 0 ? ', nothing to say' : ''}`
  return warnings.length > 0 ? incomplete(found, details) : { lines: linesOf(found, details), isIncomplete: false }
}

const incomplete = (title: string, details: readonly string[]): Finding => ({
  lines: linesOf(title, details),
  isIncomplete: true
})

/** A line break in the text of a server does not begin a line that looks like ours. */
const linesOf = (title: string, details: readonly string[]): string[] =>
  [title, ...details.map(line => `  ${line}`)].map(line => visible(line).replaceAll('\n', '\\n'))
