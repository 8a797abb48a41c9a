import { existsSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { folder } from '../process.js'
import { until } from '../wait.js'

/** A folder with shell scripts that may be executed. */
export async function scripts (t: Test, bodies: Record<string, string>): Promise<string> {
  const path = await folder(
    t,
    Object.fromEntries(Object.entries(bodies).map(([name, body]) => [name, `#!/bin/sh\n${body}\n`]))
  )
  for (const name of Object.keys(bodies)) await chmod(join(path, name), 0o755)
  return path
}

/** Starts two processes behind its back that outlive it, keep its pipes open, and write down who they are. */
export const FORKS =
  "sleep 600 & echo $! > first.pid\nsh -c 'echo $$ > second.pid.part; mv second.pid.part second.pid; exec sleep 600' &\nwhile [ ! -f second.pid ]; do sleep 0.01; done\ntouch forked"

/** The processes that FORKS started; waits until it has. */
export async function forked (path: string): Promise<number[]> {
  await until(() => existsSync(join(path, 'forked')))
  return ['first.pid', 'second.pid'].map(name => Number(readFileSync(join(path, name), 'utf8')))
}

/** True for a process that runs; one that is dead and only not buried yet does not. */
export function isAlive (pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'))
}
