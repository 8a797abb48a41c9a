import { spawn } from 'node:child_process'

/** A child process that never outlives this one, except when this one is killed outright. */
export function spawnChild (command, args, options) {
  const child = spawn(command, args, options)
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.removeListener('exit', kill))
  return child
}
