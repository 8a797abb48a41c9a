import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMMAND } from '../support/command.js'
import { joinLimits } from '../support/environment/join-limits.js'
import { freePort } from '../support/restarting.js'
import type { State } from './plugin.js'

const PLUGIN = fileURLToPath(new URL('plugin.js', import.meta.url))
const TIMEOUT = 60_000

export interface GatewayOptions { env?: Record<string, string>, args?: string[], data?: string }

/** Settings of all gateways that are started from now on. */
export const settings: Record<string, string> = {}

const folders = new Set<string>()
const running = new Set<Gateway>()
const endings = new Set<() => Promise<unknown>>()

/**
 * A real process of the command with the tools of plugin.ts. It can be ended in any way and started again with the same
 * folder and port.
 */
export class Gateway {
  readonly port: number
  readonly data: string
  readonly #options: GatewayOptions
  #child: ChildProcessWithoutNullStreams | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #stderr = ''

  constructor (port: number, options: GatewayOptions) {
    this.port = port
    this.data = options.data ?? temporary()
    this.#options = options
  }

  static async start (options: GatewayOptions = {}): Promise<Gateway> {
    const gateway = new Gateway(await freePort(), options)
    await gateway.start()
    return gateway
  }

  get pid (): number {
    return this.#child?.pid ?? 0
  }

  /** Standard input and output, for the one client that can have them. */
  get pipes (): ChildProcessWithoutNullStreams {
    return this.#child as ChildProcessWithoutNullStreams
  }

  /** What it logged as a warning. */
  get warnings (): string[] {
    return this.#stderr.split('\n').filter(line => line.includes('"level":40'))
  }

  /** What it logged as an error, and traces of a crash. */
  get complaints (): string[] {
    return this.#stderr.split('\n').filter(line => /"level":[56]0|^\s+at /.test(line))
  }

  /** Gives how long it took until a client could be served. */
  async start (): Promise<number> {
    const begun = performance.now()
    const { env = {}, args = [] } = this.#options
    const command = [
      COMMAND,
      '--port',
      String(this.port),
      '--data',
      this.data,
      '--log-level',
      'warn',
      '--plugin',
      PLUGIN,
      ...args
    ]
    const child = spawn(process.execPath, command, {
      cwd: this.data, env: joinLimits({ PATH: process.env['PATH'], CHAOS_PARENT: String(process.pid) }, settings, env)
    })
    this.#child = child
    running.add(this)
    child.stdin.on('error', () => {})
    child.stdout.on('error', () => {})
    child.stderr.on('data', (chunk: Buffer) => { this.#stderr = (this.#stderr + String(chunk)).slice(-200_000) })
    this.#ended = once(child, 'close').then(([code, signal]) => { running.delete(this); return code ?? signal })
    for (const end = Date.now() + TIMEOUT; !await this.#answers(); await sleep(10)) {
      if (Date.now() > end || child.exitCode !== null) throw new Error(`the gateway did not start: ${this.#stderr}`)
    }
    return performance.now() - begun
  }

  /** Settles when the process that runs now has ended, with how. */
  get over (): Promise<unknown> {
    return this.#ended
  }

  /** How it ended. */
  async end (signal: NodeJS.Signals = 'SIGTERM'): Promise<unknown> {
    this.#child?.kill(signal)
    return await this.ended()
  }

  async ended (ms = TIMEOUT): Promise<unknown> {
    const late = new AbortController()
    const how = await Promise.race([this.#ended, sleep(ms, 'it did not end', { signal: late.signal })])
    late.abort()
    return how
  }

  async state (prefix = ''): Promise<State> {
    return (await (
      await fetch(`http://127.0.0.1:${this.port}/chaos/state?prefix=${encodeURIComponent(prefix)}`)
    ).json()) as State
  }

  async tool (name: string, args: object = {}): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
    const response = await fetch(`http://127.0.0.1:${this.port}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body
    })
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }

  /** Stops a call of `chaos_until`; gives how many numbers it has sent. */
  async stop (key: string): Promise<number> {
    return (await (
      await fetch(`http://127.0.0.1:${this.port}/chaos/stop?key=${encodeURIComponent(key)}`)
    ).json()) as number
  }

  /** Waits until its state is as it should be; gives the last one either way. */
  async until (reached: (state: State) => boolean, ms: number, prefix = ''): Promise<State> {
    const end = Date.now() + ms
    for (;;) {
      const state = await this.state(prefix)
      if (reached(state) || Date.now() > end) return state
      await sleep(10)
    }
  }

  async #answers (): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/health`)).ok
    } catch {
      return false
    }
  }

  kill (): void {
    this.#child?.kill('SIGKILL')
  }
}

/** Ends whatever was started and still runs, and takes away what it left. */
export async function cleanUp (): Promise<void> {
  const left = [...running]
  for (const gateway of left) gateway.kill()
  await Promise.all([
    ...left.map(async gateway => await gateway.ended()),
    ...[...endings].map(async end => await end())
  ])
  endings.clear()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** Adds what ends another process when all is cleaned up. */
export function onCleanUp (end: () => Promise<unknown>): void {
  endings.add(end)
}

export function temporary (): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-chaos-'))
  folders.add(folder)
  return folder
}
