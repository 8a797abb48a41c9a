import { spawn, type ChildProcess } from 'node:child_process'
import type { Environment } from '../environment.js'
import { Output, type OnOutput } from './output.js'
import { ProcessGroup, type Ending } from './process-group.js'

export interface Program {
  /** An absolute path. */
  path: string
  args: string[]
  /** Where it runs, and what it takes for its home. */
  folder: string
  /** In milliseconds. */
  timeout: number
}

export interface Watch { signal: AbortSignal, onOutput: OnOutput }

/** How a program ended and what it wrote; `failure` says why that is no success. */
export interface Outcome extends Ending { stdout: string, stderr: string, truncated: boolean }

const MAX_OUTPUT = 256 * 1024
const FAILURES: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the program, what interprets it, or the folder it runs in is not there',
  ENOEXEC: 'it is no program of this machine',
  E2BIG: 'the arguments are too long',
  EAGAIN: 'there are too many processes',
  EMFILE: 'there are too many open files'
}

/**
 * Runs a program with these very arguments: no shell, no input, nothing of our environment. When it ends, takes too long or
 * the signal aborts, everything it started is killed. Rejects only with the reason of the signal.
 */
export async function runProgram (program: Program, { signal, onOutput }: Watch): Promise<Outcome> {
  signal.throwIfAborted()
  const output = new Output(MAX_OUTPUT, onOutput)
  const ending = await run(program, signal, output)
  output.end()
  signal.throwIfAborted()
  const { stdout, stderr, truncated } = output
  return { ...ending, stdout, stderr, truncated }
}

/** All that a program gets to see of the environment. */
export function environment (folder: string, platform: string = process.platform, { SystemRoot = 'C:\\Windows' }: Environment = process.env): Environment {
  // Node.js passes this one of its own on, unless it is mentioned.
  const common = { LANG: 'C.UTF-8', HOME: folder, NODE_V8_COVERAGE: undefined }
  if (platform === 'win32') return { ...common, PATH: `${SystemRoot}\\System32;${SystemRoot}`, SystemRoot }
  return { ...common, PATH: '/usr/local/bin:/usr/bin:/bin' }
}

async function run (program: Program, signal: AbortSignal, output: Output): Promise<Ending> {
  try {
    const ending = await supervise(start(program, output), program.timeout, signal)
    const failure = ending.failure ?? failureOf(ending)
    return failure === undefined ? ending : { ...ending, failure }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return { exitCode: null, signal: null, failure: FAILURES[code] ?? `it could not be started (${code})` }
  }
}

function start ({ path, args, folder }: Program, output: Output): ProcessGroup {
  const child: ChildProcess = spawn(path, args, { cwd: folder, env: environment(folder), stdio: ['ignore', 'pipe', 'pipe'], shell: false, detached: true, windowsHide: true })
  const group = new ProcessGroup(child)
  for (const stream of ['stdout', 'stderr'] as const) {
    // Where there are too many open files for a pipe, Node.js makes no streams and tells of it by an event.
    child[stream]?.on('data', (chunk: Buffer) => output.write(stream, chunk)).on('error', () => {})
  }
  return group
}

async function supervise (group: ProcessGroup, timeout: number, signal: AbortSignal): Promise<Ending> {
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

function failureOf ({ exitCode, signal }: Ending): string | undefined {
  if (signal !== null) return `signal ${signal}`
  return exitCode === 0 ? undefined : `exit code ${exitCode}`
}
