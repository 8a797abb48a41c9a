import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { until, within } from '../support/wait.js'

/** What a shell command of a document prints, on either output. */
export async function shell (command: string): Promise<{ code: number, stdout: string, stderr: string }> {
  const running = start(command)
  const [code] = await within(60_000, async signal => await once(running.child, 'close', { signal })) as [number]
  return { code, stdout: running.stdout, stderr: running.stderr }
}

/** A shell command that goes on until the test ends; what it prints grows. */
export function running (t: Test, command: string): Running {
  const running = start(`exec ${command}`)
  t.teardown(async () => {
    running.child.kill()
    if (running.child.exitCode === null && running.child.signalCode === null) await once(running.child, 'close')
  })
  return running
}

export type Running = ReturnType<typeof start>

function start (command: string) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
  const running = {
    child,
    stdout: '',
    stderr: '',
    /** Waits until it has printed this. */
    prints: async (what: RegExp): Promise<RegExpExecArray> => {
      await until(() => what.test(running.stdout))
      return what.exec(running.stdout) as RegExpExecArray
    }
  }
  child.stdout.on('data', (chunk: Buffer) => { running.stdout += String(chunk) })
  child.stderr.on('data', (chunk: Buffer) => { running.stderr += String(chunk) })
  return running
}
