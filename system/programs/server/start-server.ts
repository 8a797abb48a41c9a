import { execFile, spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { lookUp } from '../executable.js'
import { findProgram, type Wanted } from './find-program.js'
import { ServerProcess } from './server-process.js'
import { readThrottled } from './throttle.js'

export interface ServerProgram extends Wanted {
  args: readonly string[]
  /**
   * How long each step of stopping it may take, in milliseconds. Asked again and again, because it may become shorter.
   */
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

/**
 * Starts a program with exactly these variables, in a process group and session of its own: it has no terminal. Rejects
 * with a sentence that says what to do.
 */
export async function startServer (program: ServerProgram): Promise<ServerProcess> {
  const path = findProgram(program)
  const child = spawnDetached(program, path, await deathSignalPrefix())
  const pid = await waitForSpawn(child, program.command)
  readThrottled(child.stderr, program.onError)
  return new ServerProcess(child, pid, program.stopStep)
}

function spawnDetached (
  { args, env, cwd }: ServerProgram,
  path: string,
  prefix: string[]
): ChildProcessWithoutNullStreams {
  // Node.js passes this variable on unless it is set here.
  const common = { cwd, env: { NODE_V8_COVERAGE: undefined, ...env }, shell: false, detached: true, windowsHide: true }
  if (process.platform === 'win32') {
    const { windowsVerbatimArguments, ...command } = windowsCommand(path, args, env['COMSPEC'])
    return spawn(command.path, command.args, { ...common, windowsVerbatimArguments })
  }
  const [first = path, ...rest] = [...prefix, path, ...args]
  return spawn(first, rest, common)
}

async function waitForSpawn (child: ChildProcess, command: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const fail = (code = 'unknown') => reject(new Error(`${command} could not be started: ${FAILURES[code] ?? code}`))
    child.on('error', (error: NodeJS.ErrnoException) => fail(error.code))
    // A program that ends at once may break its streams before anything else listens to them.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
    child.once('spawn', () => child.pid === undefined ? fail() : resolve(child.pid))
  })
}

let tried: Promise<string[]> | undefined

/**
 * The words before a program with which the kernel kills it when this process ends, however it ends: `setpriv` of
 * util-linux. Empty on other systems, and where `setpriv` cannot do it. It costs about half a millisecond for each
 * start.
 */
export async function deathSignalPrefix (): Promise<string[]> {
  return await (tried ??= process.platform === 'linux' ? trySetpriv() : Promise.resolve([]))
}

async function trySetpriv (): Promise<string[]> {
  const path = lookUp('setpriv')
  if (path === undefined) return []
  const prefix = [path, '--pdeathsig', 'KILL', '--']
  return await new Promise(resolve => {
    // The one of BusyBox does not know the option.
    execFile(path, [...prefix.slice(1), path, '--version'], { timeout: 5_000 }, error =>
      resolve(error === null ? prefix : [])
    )
  })
}

/** Characters that the shell of Windows gives a meaning. */
const SPECIAL = /[()\][%!^"`<>&|;, *?]/g

/**
 * How Node.js starts a program on Windows: scripts such as npx.cmd run in the shell only, with arguments that it must
 * not interpret.
 */
export function windowsCommand (
  path: string,
  args: readonly string[],
  shell = 'cmd.exe'
): { path: string, args: string[], windowsVerbatimArguments: boolean } {
  if (!/\.(cmd|bat)$/i.test(path)) return { path, args: [...args], windowsVerbatimArguments: false }
  // The scripts that npm makes pass their arguments through the shell once more.
  const times = /[\\/](node_modules[\\/]\.bin|nodejs|npm)[\\/][^\\/]+$/i.test(path) ? 2 : 1
  const line = [escapeSpecial(path), ...args.map(arg => escapeArgument(arg, times))].join(' ')
  return { path: shell, args: ['/d', '/s', '/c', `"${line}"`], windowsVerbatimArguments: true }
}

// A program of Windows takes its one command line apart itself: backslashes before a quotation mark are doubled.
function escapeArgument (arg: string, times: number): string {
  let escaped = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`
  for (let time = 0; time < times; time++) escaped = escapeSpecial(escaped)
  return escaped
}

const escapeSpecial = (text: string): string => text.replace(SPECIAL, '^$&')
