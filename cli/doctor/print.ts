import { visible } from '../../lib/one-line.js'
import { version } from '../../version.js'
import type { Examined } from './examine.js'
import { exitCodeOf, type Finding, type Level } from './finding.js'
import { eraOf } from './servers.js'

/** The findings as lines for people. */
export function toText ({ findings, areAllDown }: Omit<Examined, 'servers'>): string {
  const width = Math.max(...findings.map(({ part }) => part.length))
  const lines = findings.flatMap(({ level, part, text, advice, details = [] }) => [
    `${level.padEnd(7)}  ${part.padEnd(width)}  ${text}`,
    ...[...(advice === undefined ? [] : [`-> ${advice}`]), ...details].map(line => `${' '.repeat(width + 11)}${line}`)
  ])
  return `${[`patchbay ${version}`, '', ...lines.map(plain), '', summaryOf(findings, areAllDown)].join('\n')}\n`
}

/** The findings as JSON for programs. */
export function toJson ({ findings, servers, areAllDown }: Examined): string {
  const exitCode = exitCodeOf({ findings, areAllDown })
  const report = {
    version,
    result: RESULTS[exitCode],
    exitCode,
    findings,
    // Its entry has secrets.
    servers: servers.map(({ entry, offered, isRepaired, ms, revision, repairs, url, error, ...rest }) => ({
      ...rest,
      ...(revision !== undefined && { revision, era: eraOf(revision) }),
      ...(url !== undefined && { url }),
      ...(error !== undefined && { error }),
      repairs,
      milliseconds: ms
    }))
  }
  return `${JSON.stringify(report, null, 2).replace(/(?!\n)[\p{C}\u2028\u2029]/gu, escaped)}\n`
}

const escaped = (text: string): string =>
  text.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const RESULTS: Record<number, string> = { 0: 'well', 10: 'warnings', 11: 'a server is down', 12: 'it does not work' }

function summaryOf (findings: readonly Finding[], areAllDown: boolean): string {
  const count = (level: Level): number => findings.filter(finding => finding.level === level).length
  const [broken, down, warnings] = [count('broken'), count('down'), count('warning')]
  const parts = [
    ...(broken === 0 ? [] : [`${broken === 1 ? 'one thing keeps' : `${broken} things keep`} the gateway from starting`]),
    ...(down === 0 ? [] : [areAllDown ? `no server works (${down} down)` : `${down === 1 ? 'one server is' : `${down} servers are`} down`]),
    ...(warnings === 0 ? [] : [`${warnings === 1 ? 'one warning' : `${warnings} warnings`}`])
  ]
  return parts.length === 0 ? 'All is well.' : `Found: ${parts.join(', ')}.`
}

/** A line break in the text of a server does not begin a line that looks like ours. */
const plain = (line: string): string => visible(line).replaceAll('\n', '\\n')
