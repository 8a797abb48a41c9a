import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { within } from '../../support/wait.js'

const PROGRAM = fileURLToPath(new URL('worker-process.js', import.meta.url))
const DEADLINE = 60_000

export interface Asked { id: number, command: string, args: unknown[] }
interface Reply { id?: number, value?: unknown, error?: string, acknowledged?: number }

/** Another process with a store. It is killed when the test ends, if it is still there. */
export function worker (t: Test, ...argv: string[]): Worker {
  const made = new Worker(fork(PROGRAM, argv))
  t.teardown(async () => await made.kill())
  return made
}

export class Worker {
  readonly acknowledged: number[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #lastId = 0

  constructor (child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit')
    child.on('message', (reply: Reply) => {
      if (reply.acknowledged !== undefined) this.acknowledged.push(reply.acknowledged)
      else this.#waiting.get(reply.id as number)?.(reply)
    })
  }

  async ask (command: string, ...args: unknown[]): Promise<unknown> {
    const id = ++this.#lastId
    return await within(DEADLINE, async signal => await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`${command} took too long`)))
      this.#waiting.set(id, ({ value, error }) => error === undefined ? resolve(value) : reject(new Error(error)))
      this.send(command, id, ...args)
    }))
  }

  /** Asks and does not wait. */
  send (command: string, id: number, ...args: unknown[]): void {
    this.#child.send({ id, command, args })
  }

  async stop (): Promise<void> {
    this.#child.disconnect()
    await this.#ended
  }

  async kill (): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}
