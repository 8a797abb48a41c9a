import { spawn } from 'node:child_process'
import type { Environment } from '../environment.js'
import { ProcessGroup } from './process-group.js'

/** How long a program may take, in milliseconds, and how much it may print, in bytes. */
const TIMEOUT = 10_000
const MAX_OUTPUT = 64 * 1024

const VARIABLE = '${command:…}' // eslint-disable-line no-template-curly-in-string

export interface CommandOptions {
  readonly env: Environment
  /** Its working directory. */
  readonly folder: string
  readonly timeout?: number
}

/**
 * The text that a program prints, without the line break at its end. There is no shell, no input, and no terminal.
 * Throws a sentence that names the program; what it printed is never part of it.
 */
export async function commandOutput (
  line: string,
  { env, folder, timeout = TIMEOUT }: CommandOptions
): Promise<string> {
  const [program = '', ...args] = splitWords(line)
  if (program === '') throw new Error(`has a ${VARIABLE} without a program`)
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: false,
    detached: true,
    windowsHide: true
  })
  const group = new ProcessGroup(child)
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_OUTPUT) group.kill(`printed more than ${MAX_OUTPUT} bytes`)
    else chunks.push(chunk)
  }).on('error', () => {})
  const timer = setTimeout(() => group.kill(`took longer than ${timeout / 1_000} seconds`), timeout)
  const why = await group.ended.then(failureOf, startFailure).finally(() => clearTimeout(timer))
  if (why !== undefined) throw new Error(`needs the program ${program}, which ${why}`)
  const text = decode(Buffer.concat(chunks))
  if (text === undefined) throw new Error(`needs the program ${program}, which printed no text in UTF-8`)
  if (text === '') throw new Error(`needs the program ${program}, which printed nothing`)
  return text
}

/**
 * The words of a command line: spaces separate them, and quotes of either kind keep what is between them together. No
 * other character has a meaning. Throws a sentence for a quote that is not closed.
 */
export function splitWords (line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+|["']/g) ?? []
  return words.map(word => {
    if (word === '"' || word === "'") throw new Error(`has a ${VARIABLE} with a quote that is not closed`)
    return word.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string | undefined, single = '') => double ?? single)
  })
}

function failureOf ({ exitCode, signal, failure }: Awaited<ProcessGroup['ended']>): string | undefined {
  if (failure !== undefined) return failure
  if (signal !== null) return `was ended by signal ${signal}`
  return exitCode === 0 ? undefined : `ended with exit code ${exitCode}; run it in a terminal to see why`
}

function startFailure ({ code = 'unknown error' }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'is not there; name it by its path, or put its folder into PATH'
  return code === 'EACCES' ? 'this user may not run' : `could not be started (${code})`
}

function decode (bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}
