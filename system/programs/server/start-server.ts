import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { deathSignalPrefix } from './death-signal.js'
import { findProgram, type Wanted } from './find-program.js'
import { ServerProcess } from './server-process.js'
import { readThrottled } from './throttle.js'
import { windowsCommand } from './windows-command.js'

export interface ServerProgram extends Wanted {
  args: readonly string[]
  /** How long each step of stopping it may take, in milliseconds. Asked again and again, because it may become shorter. */
  stopStep: () => number
  /** Gets what it writes to standard error. */
  onError: (chunk: Buffer) => void
}

const FAILURES: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the interpreter that its first line names is not there',
  ENOEXEC: 'it is not a program for this machine',
  E2BIG: 'its arguments and environment are too long',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is too little memory',
  EMFILE: 'there are too many open files'
}

/** Starts a program with exactly these variables, in a process group and session of its own: it has no terminal. Rejects with a sentence that says what to do. */
export async function startServer (program: ServerProgram): Promise<ServerProcess> {
  const path = findProgram(program)
  const child = spawnDetached(program, path, await deathSignalPrefix())
  const pid = await spawned(child, program.command)
  readThrottled(child.stderr, program.onError)
  return new ServerProcess(child, pid, program.stopStep)
}

function spawnDetached ({ args, env, cwd }: ServerProgram, path: string, prefix: string[]): ChildProcessWithoutNullStreams {
  // Node.js passes this variable on unless it is set here.
  const common = { cwd, env: { NODE_V8_COVERAGE: undefined, ...env }, shell: false, detached: true, windowsHide: true }
  if (process.platform === 'win32') {
    const { windowsVerbatimArguments, ...command } = windowsCommand(path, args, env['COMSPEC'])
    return spawn(command.path, command.args, { ...common, windowsVerbatimArguments })
  }
  const [first = path, ...rest] = [...prefix, path, ...args]
  return spawn(first, rest, common)
}

async function spawned (child: ChildProcess, command: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const fail = (code = 'unknown') => reject(new Error(`${command} could not be started: ${FAILURES[code] ?? code}`))
    child.on('error', (error: NodeJS.ErrnoException) => fail(error.code))
    child.once('spawn', () => child.pid === undefined ? fail() : resolve(child.pid))
  })
}
