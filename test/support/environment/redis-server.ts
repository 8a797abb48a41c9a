import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Owner } from '../owner.js'
import { within } from '../wait.js'

const { missing } = (await import(new URL('../../../../scripts/test-setup.mjs', import.meta.url).href)) as {
  missing: () => Array<{ program: string }>
}
const lacks = missing().some(({ program }) => program === 'redis-server')

/** For tests that need a real Redis: skipped where there is none. */
export const withRedis = { skip: lacks && 'not installed: redis-server' }

/**
 * A Redis of the test's own on a free port of the loopback interface, with these settings of redis.conf. It is killed
 * when the test ends.
 */
export async function redisServer (t: Owner, settings: Record<string, string> = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-redis-'))
  const server = new RedisServer(await freePort(), { dir: folder, ...settings })
  t.teardown(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  await server.start()
  return server
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export class RedisServer {
  readonly port: number
  readonly #settings: Record<string, string>
  #process: ChildProcess | undefined

  /** `settings` are those of redis.conf. */
  constructor (port: number, settings: Record<string, string> = {}) {
    this.port = port
    this.#settings = settings
  }

  get url (): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start (): Promise<void> {
    const settings = {
      port: this.port,
      bind: '127.0.0.1',
      save: '',
      appendonly: 'no',
      dir: tmpdir(),
      dbfilename: `patchbay-${this.port}.rdb`,
      ...this.#settings
    }
    this.#process = spawn(
      'redis-server',
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
      { stdio: 'ignore' }
    )
    await within(60_000, async signal => {
      while (await this.send('PING').catch(() => '') !== '+PONG') signal.throwIfAborted()
    })
  }

  async kill (): Promise<void> {
    const running = this.#process
    if (running === undefined) return
    this.#process = undefined
    running.kill('SIGKILL')
    await once(running, 'exit')
  }

  signal (name: NodeJS.Signals): void {
    this.#process?.kill(name)
  }

  /** The first line of what it answers to a command. */
  async send (command: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1')
    try {
      return await within(10_000, async signal => {
        await once(socket, 'connect', { signal })
        socket.write(`${command}\r\n`)
        return String((await once(socket, 'data', { signal }))[0]).split('\r\n')[0] as string
      })
    } finally {
      socket.on('error', () => {}).destroy()
    }
  }
}
