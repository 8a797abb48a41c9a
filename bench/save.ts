import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { Finding } from './measure/goal.js'
import { plot } from './plot.js'
import { summary, table } from './report.js'
import { ROOT } from './servers/catalogue.js'

const RESULTS = /(<!-- results -->\n)[^]*(<!-- end of results -->)/
const resultsOf = (question: string): RegExp =>
  new RegExp(`(<!-- results of ${question} -->\\n)[^]*(<!-- end of results of ${question} -->)`)

/** Where and when the figures were taken. */
export function machine (rounds: number): string {
  const all = cpus()
  return `${new Date().toISOString().slice(0, 10)}, ${all.length} × ${all[0]?.model.trim()} (${process.arch}), Node.js ${process.version}, load ${loadavg()[0]?.toFixed(1)} before the run, ${rounds} rounds`
}

/** Puts the figures of a run where people look for them. */
export function save (findings: Finding[], where: string): void {
  writeFileSync(join(ROOT, 'bench/results.json'), `${JSON.stringify({ where, findings }, null, 2)}\n`)
  replaceResults(findings, where, RESULTS)
  writeFileSync(join(ROOT, 'docs/bench.svg'), plot(findings, where))
}

/** Saves the results of a question that has a table of its own. */
export function saveApart (question: string, findings: Finding[], where: string): void {
  replaceResults(findings, where, resultsOf(question))
}

function replaceResults (findings: Finding[], where: string, place: RegExp): void {
  const readme = join(ROOT, 'bench/README.md')
  writeFileSync(readme, withResults(readFileSync(readme, 'utf8'), findings, where, place))
}

export function withResults (page: string, findings: Finding[], where: string, place = RESULTS): string {
  if (!place.test(page)) throw new Error('bench/README.md has no place for results')
  return page.replace(
    place,
    (_, start: string, end: string) => `${start}${where}.\n\n${table(findings)}\n\n${summary(findings)}.\n${end}`
  )
}
