import { spawn, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../environment.js'
import { isExecutable, isFolder, lookUp } from './executable.js'
import { ServerProcess } from './server-process.js'

export interface ServerProgram {
  /** A name on the PATH of `env`, or a path, which may be relative to `cwd`. */
  command: string
  args: readonly string[]
  /** All of its variables. */
  env: Environment
  /** The working directory of this process when absent. */
  cwd: string | undefined
  /** How long each step of stopping it may take, in milliseconds. */
  stopStep: number
  /** Gets what it writes to standard error; reading stops while it returns true, until `resume` is called. */
  onError: (chunk: Buffer) => void
}

type Spawned = ChildProcess & { stdin: Writable, stdout: Readable, stderr: Readable, pid: number }

const FAILURES: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the interpreter in its first line is not there',
  ENOEXEC: 'it is not a program for this machine',
  E2BIG: 'its arguments and environment are too long',
  EAGAIN: 'there are too many processes',
  EMFILE: 'there are too many open files'
}

/** Starts a program in a process group and session of its own: it has no terminal. Rejects with a sentence that says what to do. */
export async function startServer (program: ServerProgram): Promise<ServerProcess> {
  const { args, env, cwd, stopStep, onError } = program
  const path = findProgram(program)
  const child = spawn(path, args, { cwd, env: { ...env, NODE_V8_COVERAGE: env['NODE_V8_COVERAGE'] }, stdio: 'pipe', shell: false, detached: true, windowsHide: true })
  await spawned(child, program.command)
  child.stderr.on('data', onError).on('error', () => {})
  return new ServerProcess(child as Spawned, stopStep)
}

function findProgram ({ command, env, cwd }: ServerProgram): string {
  if (cwd !== undefined && !isFolder(cwd)) throw new Error(`its folder ${cwd} is not there, or may not be entered; correct cwd`)
  const path = /[/\\]/.test(command) ? resolve(cwd ?? '.', command) : lookUp(command, env['PATH'])
  if (path === undefined) throw new Error(`${command} is not on PATH=${env['PATH'] ?? ''}; write the whole path of the program as its command, or set PATH in its env`)
  if (!isExecutable(path)) throw new Error(`${path} is no program that this user may execute; correct command`)
  return path
}

async function spawned (child: ChildProcess, command: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? 'unknown'
      reject(new Error(`${command} could not be started: ${FAILURES[code] ?? code}`))
    })
  })
}
