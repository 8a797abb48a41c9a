import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { until } from './wait.js'

/** True while the process runs. One that has ended and was not waited for does not. */
export function isRunning (pid: number): boolean {
  if (!exists(pid)) return false
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z')
}

function exists (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits until none of the processes runs. */
export async function untilGone (pids: number[], ms?: number): Promise<void> {
  await until(() => !pids.some(isRunning), `the end of the processes ${pids.join(', ')}`, ms)
}

/** Waits for the process ids that programs write to a file, one a line. */
export async function pidsIn (file: string, count: number): Promise<number[]> {
  const read = () => existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : []
  await until(() => read().length >= count, `${count} process ids in ${file}`)
  return read()
}
