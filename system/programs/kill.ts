import { spawnSync } from 'node:child_process'

/** Sends a signal to all processes of a group; `0` only asks whether there are any. False when there are none. */
export function signalGroup (
  pid: number | undefined,
  signal: NodeJS.Signals | 0,
  platform: string = process.platform
): boolean {
  try {
    if (pid === undefined) return false
    if (platform !== 'win32') return process.kill(-pid, signal)
    return signal === 0 ? process.kill(pid, 0) : endTree(pid)
  } catch (error) {
    // Some of them belong to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Windows has no groups and no signals: a program is ended with all that it started, as long as it runs itself. */
function endTree (pid: number): boolean {
  return spawnSync('taskkill', ['/T', '/F', '/PID', String(pid)], { stdio: 'ignore', windowsHide: true }).status === 0
}

const kills = new Set<() => void>()
const killAll = () => kills.forEach(kill => kill())

/** Runs `kill` when this process exits. Returns how to remove it. */
export function killAtExit (kill: () => void): () => void {
  if (kills.size === 0) process.on('exit', killAll)
  kills.add(kill)
  return () => {
    kills.delete(kill)
    if (kills.size === 0) process.off('exit', killAll)
  }
}
