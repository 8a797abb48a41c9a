import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from './owner.js'
import { launch, type Launched } from './process.js'
import { within } from './wait.js'
import { dataFolder } from './environment/on-disk.js'
import type { EventReader, ServerEvent } from './event-reader.js'

/**
 * In milliseconds: until it answered, and how much of that the process was at work, which does not depend on what else
 * the machine does.
 */
export interface Start { elapsed: number, busy: number | undefined }

/** A gateway of the command that can be ended in any way and started again, with the same folder and port. */
export class Gateway {
  readonly port: number
  readonly data: string
  /** The environment of the next process. */
  readonly env: Record<string, string>
  readonly #t: Owner
  readonly #args: string[]
  #process: Launched | undefined

  constructor (t: Owner, port: number, data: string, args: string[] = [], env: Record<string, string> = {}) {
    this.#t = t
    this.port = port
    this.data = data
    this.#args = args
    this.env = { ...env }
  }

  get url (): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Returns the time until a client could be served. */
  async start (): Promise<Start> {
    const begun = performance.now()
    for (;;) {
      try {
        return await this.#launch(begun)
      } catch (error) {
        // Another process may have an outgoing connection from this port for a while.
        if (!String(error).includes('is in use') || performance.now() - begun > 60_000) throw error
      }
    }
  }

  async #launch (begun: number): Promise<Start> {
    this.#process = launch(this.#t, ['--port', String(this.port), '--data', this.data, ...this.#args], {
      env: { PATCHBAY_LOG_LEVEL: 'error', ...this.env }
    })
    const ended = this.#process.ended.then(({ stderr }) => { throw new Error(`the gateway did not start: ${stderr}`) })
    const answered = within(120_000, async signal => {
      while (!(await this.#answers())) {
        await sleep(Math.min(50, 5 + (performance.now() - begun) / 50), undefined, { signal })
      }
    })
    ended.catch(() => {})
    await Promise.race([answered, ended])
    return { elapsed: Math.round(performance.now() - begun), busy: busyFor(this.#process.pid) }
  }

  async end (signal: NodeJS.Signals): Promise<number | null> {
    this.#process?.kill(signal)
    return (await this.#process?.exit())?.code ?? null
  }

  async restart (signal: NodeJS.Signals = 'SIGKILL'): Promise<Start> {
    await this.end(signal)
    return await this.start()
  }

  get pid (): number | undefined {
    return this.#process?.pid
  }

  get stderr (): string {
    return this.#process?.stderr ?? ''
  }

  async #answers (): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/health`)
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false
    }
  }
}

export async function gatewayOn (t: Owner, args: string[] = [], env: Record<string, string> = {}): Promise<Gateway> {
  return new Gateway(t, await freePort(), await dataFolder(t), args, env)
}

/** The processor time of a process, where the system reports it. */
function busyFor (pid: number | undefined): number | undefined {
  try {
    const [user, system] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? []
    return ((user ?? NaN) + (system ?? NaN)) * 10
  } catch {
    return undefined
  }
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Reads a stream in the background, for as long as it lasts. */
export class Reading {
  readonly events: ServerEvent[] = []
  readonly over: Promise<void>
  readonly #reader: EventReader

  constructor (reader: EventReader) {
    this.#reader = reader
    this.over = this.#read()
  }

  get status (): number {
    return this.#reader.response.status
  }

  /** Events with a message, each once. */
  get messages (): Array<{ id: string, message: Record<string, unknown> }> {
    return this.events
      .filter(({ data = '' }) => data !== '')
      .map(({ id = '', data = '' }) => ({ id, message: JSON.parse(data) as Record<string, unknown> }))
  }

  get lastId (): string {
    return this.events.findLast(({ id }) => id !== undefined)?.id ?? ''
  }

  async until (reached: (messages: Reading['messages']) => boolean, ms = 10_000): Promise<void> {
    await within(ms, async signal => { while (!reached(this.messages)) await sleep(5, undefined, { signal }) })
  }

  drop (): void {
    this.#reader.drop()
  }

  async #read (): Promise<void> {
    try {
      for (let event = await this.#reader.event(); event !== undefined; event = await this.#reader.event()) {
        this.events.push(event)
      }
    } catch {
      // The other end was killed, or we dropped the connection.
    }
  }
}

export const numberOf = (eventId: string): number => Number(eventId.split('-')[1])
