import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { now, withTimeout } from '../../../lib/time.js'
import { killAtExit, signalGroup } from '../kill.js'
import { isAlive, signalStray, straysOf, type Stray } from './descendants.js'

/**
 * How long the rest of the output is read after the program ended, in milliseconds: a process that left the group may
 * hold the pipes open.
 */
const PIPE_TIMEOUT = 250
/** The interval in which a group is looked at whose leader has ended, in milliseconds. */
const LOOK = 25

/**
 * A program that was started detached and serves on its standard streams, with all processes it starts. All of them are
 * killed when this process exits.
 */
export class ServerProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly pid: number
  /** Settles when the program has ended and its output was read, with the reason. Never rejects. */
  readonly ended: Promise<string>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #stepMs: () => number
  readonly #exited: Promise<string>
  #hasEnded = false
  /**
   * Descendants that have left the group, as long as it was known whose they are: a process that ended has no children.
   */
  #strays: Stray[] = []
  #stopping: Promise<void> | undefined

  /** `child` was spawned. `stepMs` is how long each step of `stop` may take. */
  constructor (child: ChildProcessWithoutNullStreams, pid: number, stepMs: () => number) {
    this.#child = child
    this.#stepMs = stepMs
    this.stdin = child.stdin
    this.stdout = child.stdout
    this.pid = pid
    const forget = killAtExit(() => {
      this.#findStrays()
      this.#signal('SIGKILL')
    })
    this.#exited = this.#end()
    this.ended = this.#exited.then(async reason => {
      await this.#stopping
      forget()
      this.#hasEnded = true
      return reason
    })
  }

  /**
   * Closes its standard input, then sends SIGTERM, then SIGKILL, each if processes of the group, or descendants of it,
   * are left after the time of a step.
   */
  async stop (): Promise<void> {
    // Another program may have its process id by now.
    if (!this.#hasEnded) await (this.#stopping ??= this.#stop())
  }

  async #stop (): Promise<void> {
    this.#findStrays()
    this.stdin.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#isGone()) break
      this.#findStrays()
      this.#signal(signal)
    }
    await withTimeout(this.#exited, this.#stepMs(), () => {})
  }

  async #end (): Promise<string> {
    const closed = new Promise<void>(resolve => { this.#child.once('close', () => resolve()) })
    const reason = await new Promise<string>(resolve => {
      this.#child.once('exit', (code, signal) =>
        resolve(signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`)
      )
    })
    // A program that ended by itself has no time left for what it started.
    if (this.#stopping === undefined) this.#signal('SIGKILL')
    await withTimeout(closed, PIPE_TIMEOUT, () => {})
    this.stdin.destroy()
    this.stdout.destroy()
    this.#child.stderr.destroy()
    return reason
  }

  /** True when no process of the group and no stray is left, at the latest after the time of a step. */
  async #isGone (): Promise<boolean> {
    // By the clock: in a busy process each interval may take far longer.
    for (const begin = now(); now() - begin < this.#stepMs();) {
      if (!this.#isAny()) return true
      await sleep(LOOK)
    }
    return !this.#isAny()
  }

  #isAny (): boolean {
    return signalGroup(this.pid, 0) || this.#strays.some(isAlive)
  }

  #findStrays (): void {
    const known = new Set(this.#strays.map(({ pid }) => pid))
    this.#strays.push(...straysOf(this.pid).filter(({ pid }) => !known.has(pid)))
  }

  #signal (signal: NodeJS.Signals): void {
    signalGroup(this.pid, signal)
    for (const stray of this.#strays) signalStray(stray, signal)
  }
}
