import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { COMMAND } from '../support/command.js'
import { callOnce } from '../support/http-connection.js'
import { openFiles, type Vitals } from './vitals.js'

const PLUGIN = fileURLToPath(new URL('plugin.js', import.meta.url))
const START = 90_000
const EXIT = 60_000

export interface GatewayOptions {
  /** Keep everything in memory instead of in a folder of its own. */
  ephemeral?: boolean
  /** Files of further plugins. */
  plugins?: string[]
  env?: Record<string, string>
  logLevel?: 'warn' | 'debug'
  /** Receives each line of its log. */
  onLog?: (line: string) => void
}

/** Those that run now, so that none is left behind. */
const running = new Set<Gateway>()

/** A real process of the command that serves stdio, HTTP and WebSocket, with the tools of plugin.ts. */
export class Gateway {
  readonly pid: number
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly #child: ChildProcessWithoutNullStreams
  #port = 0
  #stderr = ''

  constructor ({ ephemeral = false, plugins = [], env = {}, logLevel = 'warn', onLog }: GatewayOptions) {
    const data = mkdtempSync(join(tmpdir(), 'patchbay-load-'))
    const args = [
      '--stdio',
      '--port',
      '0',
      '--log-level',
      logLevel,
      ...(ephemeral ? ['--ephemeral'] : ['--data', data]),
      ...[PLUGIN, ...plugins].flatMap(file => ['--plugin', file])
    ]
    // A machine that is busy with the clients, too, must not have it refuse them.
    const limits = ['maxEventLoopDelay=60000', ...[env['PATCHBAY_LIMITS'] ?? []].flat()].join(',')
    // Without what a test runner puts into the environment: its coverage would be measured, too.
    const settings = { PATH: process.env['PATH'], ...env, PATCHBAY_LIMITS: limits }
    this.#child = spawn(process.execPath, [COMMAND, ...args], { cwd: data, env: settings })
    if (this.#child.pid === undefined) throw new Error('the gateway could not be started')
    this.pid = this.#child.pid
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.on('data', (chunk: Buffer) => { this.#stderr = (this.#stderr + String(chunk)).slice(-100_000) })
    if (onLog !== undefined) createInterface({ input: this.#child.stderr }).on('line', onLog)
    this.ended = once(this.#child, 'close').then(([code, signal]) => {
      running.delete(this)
      rmSync(data, { recursive: true, force: true })
      return code as number | null ?? signal as NodeJS.Signals
    })
    running.add(this)
  }

  static async start (options: GatewayOptions = {}): Promise<Gateway> {
    const gateway = new Gateway(options)
    await gateway.#up()
    return gateway
  }

  get port (): number {
    return this.#port
  }

  /** Standard input and output, for the one client that can have them. */
  get pipes (): Pick<ChildProcessWithoutNullStreams, 'stdin' | 'stdout'> {
    return this.#child
  }

  /** What it logged as an error. */
  get complaints (): string[] {
    return this.#stderr.split('\n').filter(line => /"level":[56]0/.test(line))
  }

  async call (name: string, args: object = {}): Promise<string> {
    return await callOnce(this.port, name, args)
  }

  async vitals (): Promise<Vitals> {
    const seen = JSON.parse(await this.call('load_vitals')) as Omit<Vitals, 'files'>
    return { ...seen, files: openFiles(this.pid) }
  }

  /** How many objects of some classes are alive. */
  async objects (): Promise<Record<string, number>> {
    return JSON.parse(await this.call('load_objects')) as Record<string, number>
  }

  signal (name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Ends it in order; how it ended. */
  async stop (): Promise<number | NodeJS.Signals | null> {
    this.signal('SIGTERM')
    const late = setTimeout(() => this.signal('SIGKILL'), EXIT)
    const how = await this.ended
    clearTimeout(late)
    return how
  }

  async #up (): Promise<void> {
    const until = Date.now() + START
    for (;;) {
      const port = /MCP +http:\/\/\S+:(\d+)\/mcp/.exec(this.#stderr)?.[1]
      if (port !== undefined) { this.#port = Number(port); return }
      if (Date.now() > until || !running.has(this)) throw new Error(`the gateway did not start: ${this.#stderr}`)
      await sleep(10)
    }
  }
}

/** Kills whatever was started and still runs. */
export async function killAll (): Promise<void> {
  const left = [...running]
  for (const gateway of left) gateway.signal('SIGKILL')
  await Promise.all(left.map(async gateway => await gateway.ended))
}
