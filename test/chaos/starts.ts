import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { COMMAND } from '../support/command.js'
import { temporary } from './gateway.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

const AT_ONCE = 2

/** Config files that cannot be used, and a word of the error for each. */
const BROKEN: Array<[text: string, expected: RegExp]> = [
  ['', /JSON/],
  ['{', /JSON/],
  ['{"port":1,}', /JSON/],
  ['port = 1', /JSON/],
  ['\u0000', /JSON/],
  ['[]', /object/],
  ['null', /object/],
  ['"port"', /object/],
  ['42', /object/],
  ['{"prot":1}', /prot/],
  ['{"port":"8080"}', /port/],
  ['{"port":-1}', /port/],
  ['{"port":65536}', /port/],
  ['{"host":""}', /host/],
  ['{"maxMessage":0}', /maxMessage/],
  ['{"prefix":"ai/"}', /prefix/],
  ['{"logLevel":"loud"}', /logLevel/],
  ['{"plugins":["./nothing.ts"]}', /nothing\.ts/],
  ['{"roots":["./nothing"]}', /nothing/],
  ['{"host":"0.0.0.0"}', /0\.0\.0\.0/],
  ['{"commands":{"a b":{}}}', /commands/],
  ['{"__proto__":{"port":1}}', /__proto__|exist/]
]

interface Ended { code: number | null, ms: number, stdout: string, stderr: string }

/** Starts that cannot succeed: each ends by itself, with one sentence, and writes nothing on standard output. */
export const starts = scenario({ files: BROKEN.length }, async ({ files }) => {
  const report = new Report(`starts: a port that is in use, and ${files} broken config files`)
  const folder = temporary()
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  for (const args of [[], ['--stdio']]) {
    judge(report, `port in use ${args.join(' ')}`, await start(folder, ['--port', String(port), ...args]), /in use/)
  }
  taken.close()
  const all = BROKEN.slice(0, files)
  for (let first = 0; first < all.length; first += AT_ONCE) {
    await Promise.all(all.slice(first, first + AT_ONCE).map(async ([text, expected], index) => {
      const file = join(folder, `${first + index}.json`)
      writeFileSync(file, text)
      judge(
        report,
        text === '' ? 'an empty file' : JSON.stringify(text),
        await start(folder, ['--config', file]),
        expected
      )
    }))
  }
  return report
})

function judge (report: Report, what: string, { code, ms, stdout, stderr }: Ended, expected: RegExp): void {
  report.row({
    what,
    exit: String(code),
    ms,
    says: stderr
      .trim()
      .replaceAll(/\S*patchbay-chaos-\w+\//g, '…/')
      .slice(0, 110)
  })
  report.promise(code !== null && code !== 0, `${what}: it ends with an error, not ${code}`)
  report.promise(/^patchbay: [^\n]+\n$/.test(stderr) && expected.test(stderr), `${what}: one line says why: ${stderr}`)
  report.promise(stdout === '', `${what}: standard output stays clean`)
}

async function start (cwd: string, args: string[]): Promise<Ended> {
  const begun = performance.now()
  const child = spawn(process.execPath, [COMMAND, '--ephemeral', ...args], {
    cwd,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => { stdout += String(chunk) })
  child.stderr.on('data', (chunk: Buffer) => { stderr += String(chunk) })
  const [code] = await once(child, 'close') as [number | null]
  clearTimeout(late)
  return { code, ms: performance.now() - begun, stdout, stderr }
}
