import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { joinLimits } from './environment/join-limits.js'
import { COMMAND } from './command.js'
import type { Owner } from './owner.js'
import { inTime, within } from './wait.js'

export type Json = Record<string, unknown>

const DEADLINE = 60_000

/** The data folder of processes that are given none: not the user's own. */
const DATA = process.env['XDG_DATA_HOME'] ?? mkdtempSync(join(tmpdir(), 'patchbay-data-'))
if (DATA !== process.env['XDG_DATA_HOME']) process.on('exit', () => rmSync(DATA, { recursive: true, force: true }))

/** How many processes of a test run side by side. */
export const PROCESSES = 3

/** The tools of test/support/gateway.ts, as a plugin file. */
export const FIXTURE = fileURLToPath(new URL('./gateway.js', import.meta.url))

export interface Ended { code: number | null, signal: string | null, stdout: string, stderr: string }

export interface LaunchOptions { env?: Record<string, string>, cwd?: string, openFiles?: number, log?: string }

/** A busy machine is no reason to refuse calls; tests of that set the limit themselves. */
const BUSY_MACHINE = { PATCHBAY_LIMITS: 'maxEventLoopDelay=60000' }

/** A real process of the command. It is killed when the test ends, if it is still there. */
export function launch (
  t: Owner,
  args: string[],
  { env = {}, cwd = tmpdir(), openFiles, log }: LaunchOptions = {}
): Launched {
  const shell = `${openFiles === undefined ? '' : `ulimit -n ${openFiles}; `}exec "$@"${log === undefined ? '' : ` 2>${log}`}`
  const command = [process.execPath, COMMAND, ...args]
  const [program = 'sh', ...rest] =
    openFiles === undefined && log === undefined ? command : ['sh', '-c', shell, 'sh', ...command]
  const child = spawn(program, rest, {
    cwd,
    env: joinLimits({ PATH: process.env['PATH'], XDG_DATA_HOME: DATA }, BUSY_MACHINE, env)
  })
  const launched = new Launched(child)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await launched.ended
  })
  return launched
}

/** A folder with files, outside the project and with no node_modules anywhere above it. */
export async function folder (t: Owner, files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'patchbay-'))
  t.teardown(async () => await rm(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

export class Launched {
  stdout = ''
  stderr = ''
  readonly ended: Promise<Ended>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>

  constructor (child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdin.on('error', () => {})
    child.stdout.on('data', (chunk: Buffer) => { this.stdout += String(chunk) })
    child.stderr.on('data', (chunk: Buffer) => { this.stderr += String(chunk) })
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    this.ended = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
      stdout: this.stdout,
      stderr: this.stderr
    }))
  }

  get pid (): number | undefined {
    return this.#child.pid
  }

  send (...messages: object[]): void {
    for (const message of messages) this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  write (text: string | Uint8Array): void {
    this.#child.stdin.write(text)
  }

  /** The next message on standard output. */
  async next (): Promise<Json> {
    const { value } = await inTime(this.#lines.next(), 'a line', DEADLINE) as { value: string }
    return JSON.parse(value) as Json
  }

  async exit (): Promise<Ended> {
    return await inTime(this.ended, 'the end', DEADLINE)
  }

  /** The URL of HTTP, as the log or the banner says. */
  async url (): Promise<string> {
    return (await this.#printed(/MCP +(http:\/\/\S+)\/mcp/))[1] as string
  }

  async #printed (what: RegExp): Promise<RegExpExecArray> {
    return await within(DEADLINE, async signal => {
      for (;;) {
        const found = what.exec(this.stderr)
        if (found !== null) return found
        await once(this.#child.stderr, 'data', { signal }).catch(error => {
          throw new Error(`${String(what)} was not said, but: ${this.stderr}`, { cause: error })
        })
      }
    })
  }

  /** Waits until it says that it is up. */
  async up (): Promise<this> {
    await this.#printed(/mcpServers|^patchbay \S+ {2}stdio|"msg":"patchbay \S+ is up: /m)
    return this
  }

  kill (signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Its standard error is not read until it is read again. */
  pauseLog (): void {
    this.#child.stderr.pause()
  }

  resumeLog (): void {
    this.#child.stderr.resume()
  }

  /** Stops reading its standard error. */
  deafen (): void {
    this.#child.stderr.destroy()
  }

  end (): void {
    this.#child.stdin.end()
  }
}

export const initialize = { id: 'hello', method: 'initialize', params: {} }

export const toolCall = (id: number, name: string, args: object = {}, more: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...more }
})
