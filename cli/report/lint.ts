import { visible } from '../../lib/one-line.js'
import type { Options } from '../../options.js'
import { readServers, type ServerReading } from './read-servers.js'

export interface Linted {
  /** The text about each server, for a terminal. */
  report: string
  /**
   * True when something is missing: a server or one of its lists, or what a server lists. What was repaired is not
   * missing.
   */
  isIncomplete: boolean
}

/** Lines about one server; the first one names it. */
interface Finding { lines: string[], isIncomplete: boolean }

/**
 * Starts the configured upstream servers, reads their lists, stops them, and says what clients would refuse of them,
 * what was repaired and what was left out. Nothing is listened on or written. Throws a sentence if there is no such
 * server.
 */
export async function lint (options: Options, wanted: Parameters<typeof readServers>[1]): Promise<Linted> {
  const findings = (await readServers(options, wanted)).map(lintServer)
  return {
    report:
      findings.length === 0
        ? 'No upstream servers are configured.\n'
        : findings.map(({ lines }) => `${lines.join('\n')}\n`).join(''),
    isIncomplete: findings.some(({ isIncomplete }) => isIncomplete)
  }
}

function lintServer (reading: ServerReading): Finding {
  const { alias, state, error, warnings, lastLines } = reading
  switch (state) {
    case 'disabled':
      return { lines: [`${alias}: disabled, not started`], isIncomplete: false }
    case 'left out':
      return incomplete(`${alias}: left out of the configuration`, warnings)
    case 'failed':
      return incomplete(`${alias}: could not be read: ${error}`, [
        ...describeLists(reading),
        ...lastLines.map(line => `| ${line}`)
      ])
  }
  const details = describeLists(reading)
  const found = `${alias}: ${countLists(reading)}${details.length === 0 ? ', nothing to say' : ''}`
  return warnings.length > 0 ? incomplete(found, details) : { lines: linesOf(found, details), isIncomplete: false }
}

/** How many tools a server has, and how many entries are not as it sent them. */
export function countLists ({ tools, repairs, isRepaired, warnings }: ServerReading): string {
  return [
    `${tools} ${tools === 1 ? 'tool' : 'tools'}`,
    ...(repairs.length === 0 ? [] : [`${repairs.length} ${isRepaired ? 'repaired' : 'that some clients refuse'}`]),
    ...(warnings.length === 0 ? [] : [`${warnings.length} left out or hidden`])
  ].join(', ')
}

/** Lists what is left out or hidden of the lists of a server, and what clients would refuse. */
export const describeLists = ({ warnings, repairs, isRepaired }: ServerReading): string[] => [
  ...warnings,
  ...repairs.flatMap(({ noun, name, changes }) =>
    changes.map(change => `${noun} "${name}" ${isRepaired ? 'repaired' : 'not repaired (schemas: as-is)'}: ${change}`)
  )
]

const incomplete = (title: string, details: readonly string[]): Finding => ({
  lines: linesOf(title, details),
  isIncomplete: true
})

/** A line break in the text of a server does not begin a line that looks like ours. */
const linesOf = (title: string, details: readonly string[]): string[] =>
  [title, ...details.map(line => `  ${line}`)].map(line => visible(line).replaceAll('\n', '\\n'))
