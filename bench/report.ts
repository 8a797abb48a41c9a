import { verdictOf, type Finding } from './measure/goal.js'
import { inWords } from './measure/statistics.js'

const TITLES = ['what', 'goal', 'Patchbay', 'limit', 'peers', 'verdict']

/** The findings as a table in Markdown, in columns that can be read without it. */
export function table (findings: Finding[]): string {
  const rows = [TITLES, ...findings.map(cells)]
  const widths = TITLES.map((_, column) => Math.max(...rows.map(row => (row[column] as string).length)))
  const [head, ...body] = rows.map(
    row => `| ${row.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`
  )
  return [head, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n')
}

export function summary (findings: Finding[]): string {
  const verdicts = findings.map(verdictOf).filter(verdict => verdict !== undefined)
  const count = (wanted: string): number => verdicts.filter(verdict => verdict === wanted).length
  const unclear = count('unclear')
  return `${count('met')} of ${verdicts.length} goals met${unclear === 0 ? '' : `, ${unclear} unclear`}`
}

function cells (finding: Finding): string[] {
  const { what, goal = '-', ours, limit, peers } = finding
  return [
    what,
    goal,
    inWords(ours),
    limit,
    peers.map(({ name, figure }) => `${name} ${inWords(figure)}`).join(', ') || '-',
    verdictOf(finding) ?? '-'
  ]
}
