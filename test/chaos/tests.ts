import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Report, type Scenario } from '../support/report.js'
import { scenario } from './scenario.js'

/** A server that is killed again and again while it writes. */
export const kill = scenario(
  { kills: 100 },
  async ({ kills }) =>
    await runTests(`kill: ${kills} kills under load`, ['app/crash.slow.test.js'], { CRASH_KILLS: String(kills) })
)

/** A disk that is full or read-only, and files that are damaged. */
export const disk: Scenario = scenario(
  {},
  async () =>
    await runTests('disk: full, read-only, damaged', ['stores/disk-full.test.js', 'stores/disk-damage.test.js'])
)

async function runTests (title: string, files: string[], env: Record<string, string> = {}): Promise<Report> {
  const report = new Report(title)
  for (const file of files) {
    const child = spawn(process.execPath, [fileURLToPath(new URL(`../${file}`, import.meta.url))], {
      env: { ...process.env, TAP_TIMEOUT: '7200', ...env },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => { output += String(chunk) })
    const [code] = await once(child, 'close') as [number | null]
    for (const [, comment = ''] of output.matchAll(/^\s*# (?!Subtest|time|\{)(.+)$/mg)) report.note(comment)
    for (const [, failed = ''] of output.matchAll(/^\s*not ok \d+ - (.+)$/mg)) report.promise(false, failed)
    report.row({ test: file.replace(/js$/, 'ts'), passed: output.match(/^\s*ok /mg)?.length ?? 0, exit: String(code) })
    report.promise(code === 0, `${file} passes`)
  }
  return report
}
