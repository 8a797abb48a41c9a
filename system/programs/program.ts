import { spawn, type ChildProcess } from 'node:child_process'
import type { Environment } from '../environment.js'
import { Output, type OnOutput } from './output.js'
import { ProcessGroup, type ExitStatus } from './process-group.js'

export interface Program {
  /** An absolute path. */
  path: string
  args: string[]
  /** Its working directory and its HOME. */
  folder: string
  /** In milliseconds. */
  timeout: number
}

export interface RunOptions { signal: AbortSignal, onOutput: OnOutput }

/** How a program ended and what it wrote; `failure` is why it did not succeed. */
export interface ProgramResult extends ExitStatus { stdout: string, stderr: string, truncated: boolean }

const MAX_OUTPUT = 256 * 1024
const FAILURES: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the program, its interpreter, or the folder it runs in is not there',
  ENOEXEC: 'it is not a program for this machine',
  E2BIG: 'the arguments are too long',
  EAGAIN: 'there are too many processes',
  EMFILE: 'there are too many open files'
}

/**
 * Runs a program with exactly these arguments: no shell, no input, none of our environment. When it ends, takes too
 * long or the signal aborts, all processes it started are killed. Rejects only with the reason of the signal.
 */
export async function runProgram (program: Program, { signal, onOutput }: RunOptions): Promise<ProgramResult> {
  signal.throwIfAborted()
  const output = new Output(MAX_OUTPUT, onOutput)
  const status = await run(program, signal, output)
  output.end()
  signal.throwIfAborted()
  const { stdout, stderr, truncated } = output
  return { ...status, stdout, stderr, truncated }
}

/** The environment of a program. */
export function environment (
  folder: string,
  platform: string = process.platform,
  { SystemRoot = 'C:\\Windows' }: Environment = process.env
): Environment {
  // Node.js passes this variable on unless it is set here.
  const common = { LANG: 'C.UTF-8', HOME: folder, NODE_V8_COVERAGE: undefined }
  if (platform === 'win32') return { ...common, PATH: `${SystemRoot}\\System32;${SystemRoot}`, SystemRoot }
  return { ...common, PATH: '/usr/local/bin:/usr/bin:/bin' }
}

async function run (program: Program, signal: AbortSignal, output: Output): Promise<ExitStatus> {
  try {
    const status = await supervise(start(program, output), program.timeout, signal)
    const failure = status.failure ?? failureOf(status)
    return failure === undefined ? status : { ...status, failure }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return { exitCode: null, signal: null, failure: FAILURES[code] ?? `it could not be started (${code})` }
  }
}

function start ({ path, args, folder }: Program, output: Output): ProcessGroup {
  const child: ChildProcess = spawn(path, args, {
    cwd: folder,
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: false,
    detached: true,
    windowsHide: true
  })
  const group = new ProcessGroup(child)
  for (const stream of ['stdout', 'stderr'] as const) {
    // Without file descriptors for pipes, Node.js creates no streams and emits an error event.
    child[stream]?.on('data', (chunk: Buffer) => output.write(stream, chunk)).on('error', () => {})
  }
  return group
}

async function supervise (group: ProcessGroup, timeout: number, signal: AbortSignal): Promise<ExitStatus> {
  const timer = setTimeout(() => group.kill(`timed out after ${timeout} ms`), timeout)
  const cancel = () => group.kill('cancelled')
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await group.ended
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

function failureOf ({ exitCode, signal }: ExitStatus): string | undefined {
  if (signal !== null) return `signal ${signal}`
  return exitCode === 0 ? undefined : `exit code ${exitCode}`
}
