import { campaign, type Report } from './campaign.js'
import { fromRow, toRow, type TargetName } from './case.js'
import { readCommand, USAGE, type Command } from './command.js'
import { corpusOf, keepBehaviours, keepFinding, readRows } from './corpus.js'
import { Suspects, type Finding } from './findings.js'
import { open } from './targets/all.js'
import { Watch } from './watch.js'

/** Which part of the messages each target gets. */
const SHARE: Record<TargetName, number> = {
  dispatcher: 0.44,
  http: 0.12,
  websocket: 0.13,
  stdio: 0.21,
  process: 0.05,
  principals: 0.05
}

const watch = new Watch(true)
try {
  const command = readCommand(process.argv.slice(2))
  process.exitCode = command.replay === undefined ? await fuzz(command) : await replay(command.replay)
} catch (error) {
  console.error(`${error instanceof Error ? error.stack : String(error)}\n\n${USAGE}`)
  process.exitCode = 1
}
watch.stop()

async function fuzz (command: Command): Promise<number> {
  const { seed, count, minutes, targets, keep, learn } = command
  console.log(`fuzz: seed ${seed}`)
  const until = Date.now() + minutes * 60_000
  const all = targets.reduce((sum, name) => sum + SHARE[name], 0)
  const reports: Report[] = []
  for (const name of targets) {
    const share = SHARE[name] / all
    const left =
      ((until - Date.now()) * share) /
      targets.slice(targets.indexOf(name)).reduce((sum, other) => sum + SHARE[other] / all, 0)
    const report = await campaign({
      name,
      open: open[name],
      seed,
      count: Math.ceil(count * share),
      until: Number.isFinite(count) ? until : Date.now() + left,
      corpus: corpusOf(name),
      watch,
      learn,
      enough: 5
    })
    reports.push(report)
    print(report)
    for (const finding of report.findings) explain(finding, seed)
    if (keep) console.log(`  kept in ${keepBehaviours(name, report.kept)}`)
  }
  return conclude(reports, command)
}

function conclude (reports: Report[], { seed, count }: Command): number {
  const known = reports.reduce((sum, report) => sum + report.known, 0)
  const fresh = reports.reduce((sum, report) => sum + report.inputs, 0) - known
  const findings = reports.flatMap(report => report.findings)
  const short = Number.isFinite(count) && fresh < count && findings.length === 0
  console.log(
    `fuzz: ${fresh} new inputs and ${known} known ones, ${findings.length} findings (seed ${seed})${short ? `: the time was up before all ${count} were sent` : ''}`
  )
  return findings.length > 0 || short ? 1 : 0
}

function print ({ name, inputs, known, cases, seconds, behaviours, findings, digest, grown }: Report): void {
  const megabytes = (bytes: number) => `${bytes < 0 ? '' : '+'}${(bytes / 1024 / 1024).toFixed(1)} MB`
  console.log(
    `${name.padEnd(10)} ${inputs - known} new and ${known} known inputs in ${cases} conversations, ${seconds.toFixed(1)} s, ${Math.round(inputs / seconds)}/s, ${behaviours} behaviours, heap ${megabytes(grown.heap)}, native ${megabytes(grown.native)}, ${findings.length} findings, new inputs ${digest}`
  )
}

function explain ({ input, fault, again }: Finding, seed: string): void {
  console.log(
    `\nFOUND ${fault.kind} in ${input.target}${again ? '' : ' (not seen again when tried alone)'}: ${fault.text.slice(0, 2_000)}`
  )
  if (input.steps.length === 0) return
  console.log(JSON.stringify(toRow(input, fault.kind), undefined, 2).slice(0, 6_000))
  console.log(
    `seed ${seed}; again with: npm run fuzz -- --replay ${keepFinding(input, `${fault.kind}: ${fault.text.slice(0, 200)}`)}`
  )
}

async function replay (file: string): Promise<number> {
  let failed = 0
  for (const row of readRows(file)) {
    const suspects = new Suspects(open[row.target], watch)
    const faults = await suspects.faults(fromRow(row))
    await suspects.close()
    if (faults.length > 0) failed++
    console.log(
      `${row.target}: ${row.why}\n${faults.length === 0 ? '  nothing is wrong' : faults.map(({ kind, text }) => `  ${kind}: ${text}`).join('\n')}`
    )
  }
  console.log(`fuzz: ${failed} findings in ${file}`)
  return failed > 0 ? 1 : 0
}
