import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pinToCores } from '../measure/cores.js'

/** How a measured server is started: the arguments of `node`, or of another program. */
export interface Server {
  name: string
  program?: string
  args: (place: Place) => string[]
  env?: Environment
  /** Another MCP server than Patchbay. */
  peer?: true
  /** The checkout that a Patchbay comes from, when it is not this one. */
  build?: string
}

/** Environment variables; `undefined` removes one. */
export type Environment = Record<string, string | undefined>

/** Where a server may be. */
export interface Place { port: number, data: string }

const START = 30_000
const EXIT = 5_000
const running = new Set<ServerProcess>()

/** A server that was started. Its log is read and thrown away, at the pace of a log collector. */
export class ServerProcess {
  readonly pid: number
  readonly port: number
  readonly child: ChildProcess
  readonly #data: string
  #said = ''

  private constructor (server: Server, port: number, data: string, env: Environment) {
    const [command, args] = pinToCores(server.args({ port, data }), server.program)
    this.child = spawn(command, args, { cwd: data, env: { ...environment(), ...server.env, ...env } })
    if (this.child.pid === undefined) throw new Error(`${server.name} cannot be started`)
    this.pid = this.child.pid
    this.port = port
    this.#data = data
    this.child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#said.length < 1000) this.#said += String(chunk)
    })
    running.add(this)
  }

  /** Starts a server for standard input and output; the first request shows whether it works. */
  static launch (
    server: Server,
    data = mkdtempSync(join(tmpdir(), 'patchbay-bench-')),
    env: Environment = {}
  ): ServerProcess {
    return new ServerProcess(server, 0, data, env)
  }

  /** Starts a server and waits until it accepts connections. */
  static async listen (server: Server, env: Environment = {}): Promise<ServerProcess> {
    const started = new ServerProcess(server, await freePort(), mkdtempSync(join(tmpdir(), 'patchbay-bench-')), env)
    started.child.stdout?.resume()
    const until = Date.now() + START
    while (!(await accepts(started.port))) {
      if (started.#ended || Date.now() > until) {
        await started.stop()
        throw new Error(`${server.name} did not start: ${started.#said}`)
      }
      await sleep(20)
    }
    return started
  }

  /** Ends it, and with it what it kept. */
  async stop ({ keep = false } = {}): Promise<void> {
    const late = setTimeout(() => this.child.kill('SIGKILL'), EXIT)
    this.child.stdin?.destroy()
    this.child.kill('SIGTERM')
    if (!this.#ended) await once(this.child, 'exit')
    clearTimeout(late)
    running.delete(this)
    if (!keep) rmSync(this.#data, { recursive: true, force: true, maxRetries: 3 })
  }

  get #ended (): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }
}

export async function stopAll (): Promise<void> {
  await Promise.all([...running].map(async server => await server.stop()))
}

/** The environment of the benchmarks, without variables that set options of Patchbay or that profile. */
function environment (): Environment {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PATCHBAY_|MCP_|NODE_OPTIONS$|NODE_V8_COVERAGE$)/.test(name))
  )
}

export async function freePort (): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** Settles when a server listens there. */
export async function untilAccepted (port: number): Promise<void> {
  const until = Date.now() + START
  while (!await accepts(port)) {
    if (Date.now() > until) throw new Error(`nothing listens on port ${port}`)
    await sleep(20)
  }
}

async function accepts (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise(resolve => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy()) as boolean
}
