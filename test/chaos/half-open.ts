import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

const INSIDE = fileURLToPath(new URL('half-open-inside.js', import.meta.url))

/** A network that goes away without a word. It needs a network of its own, which on Linux root can have. */
export const halfOpen = scenario(
  { clients: 10, heartbeat: 1_000, patience: 30_000 },
  async ({ clients, heartbeat, patience }) => {
    const report = new Report(`half-open: ${clients} clients of each kind whose network is gone without a word`)
    const possible =
      process.platform === 'linux' && spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0
    if (!possible) {
      report.note('not run: it takes Linux, root, unshare and ip')
      return report
    }
    const child = spawn(
      'unshare',
      ['-n', process.execPath, INSIDE, String(clients), String(heartbeat), String(patience)],
      { stdio: ['ignore', 'pipe', 'inherit'] }
    )
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += String(chunk)
    })
    await once(child, 'close')
    const { rows, notes, broken } = JSON.parse(output) as Pick<Report, 'rows' | 'notes' | 'broken'>
    for (const row of rows) report.row(row)
    for (const words of broken) report.promise(false, words)
    for (const note of [
      ...notes,
      'A stream on which nothing is told is found when the system gives up sending signs of life: on Linux net.ipv4.tcp_retries2 says when.'
    ]) {
      report.note(note)
    }
    return report
  }
)
