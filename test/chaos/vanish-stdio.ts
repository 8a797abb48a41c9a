import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTime } from '../support/wait.js'
import { call, initialize } from '../support/messages.js'
import { readLines } from '../support/connections.js'
import { Gateway, temporary } from './gateway.js'
import type { Report } from '../support/report.js'

type Pipes = Gateway['pipes']

/** How many times longer a call takes than elsewhere: on a busy machine it must not finish before it is aborted. */
const PATIENCE = 20

/** Ways in which the process that launched a gateway can be gone. */
const ENDS: Record<string, (pipes: Pipes) => void> = {
  'all pipes': pipes => { for (const pipe of [pipes.stdin, pipes.stdout, pipes.stderr]) pipe.destroy() },
  'standard output': pipes => { pipes.stdout.destroy(); pipes.stdin.write(`${call('ping', {}, 'again')('legacy')}\n`) }
}

/** Launchers that die while a call is under way: the call is aborted, and the gateway ends with them, in order. */
export async function vanishFromStdio (report: Report, work: number): Promise<void> {
  for (const [what, vanish] of Object.entries(ENDS)) {
    const file = join(temporary(), 'fates')
    const gateway = await Gateway.start({
      args: ['--stdio'],
      env: { CHAOS_FILE: file, PATCHBAY_GRACE: String(Math.floor(work / 3)) }
    })
    const received: string[] = []
    readLines(gateway.pipes.stdout, line => received.push(line))
    gateway.pipes.stdin.write(
      `${initialize()}\n${call('tools/call', { name: 'chaos_work', arguments: { key: 'stdio', ms: PATIENCE * work } })('legacy')}\n`
    )
    await gateway.until(({ calls }) => calls.stdio !== undefined, 60_000)
    const begun = performance.now()
    vanish(gateway.pipes)
    const end = await inTime(gateway.ended(), 'the end of the gateway', 60_000)
    const fate = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none'
    report.row({
      'the client vanishes at': `stdio, ${what}: a call is under way`,
      calls: 1,
      finished: Number(fate === 'finished'),
      aborted: Number(fate === 'aborted'),
      'slowest ms': performance.now() - begun
    })
    report.promise(fate === 'aborted', `stdio, ${what}: the call is aborted, not ${fate}`)
    report.promise(end === 0, `stdio, ${what}: the gateway ends with 0, not ${String(end)}`)
  }
}
