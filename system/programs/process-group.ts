import type { ChildProcess } from 'node:child_process'

export interface Ending { exitCode: number | null, signal: string | null, failure?: string }

/** How long we wait for the pipes of what was killed: a process that left the group may hold them. */
const LAST_WORDS = 250

/** None of them survives this process. */
const running = new Set<ProcessGroup>()
const killAll = () => running.forEach(group => group.kill())

/** A program that was started detached, and all processes it starts: they end together. */
export class ProcessGroup {
  /** Settles when the program is gone and its output was read; rejects when the program could not be started. */
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #ending: Ending = { exitCode: null, signal: null }
  #giveUp = () => {}
  #last: NodeJS.Timeout | undefined

  constructor (child: ChildProcess) {
    this.#child = child
    if (running.size === 0) process.on('exit', killAll)
    running.add(this)
    this.ended = this.#end().finally(() => this.#leave())
  }

  /** Kills them all. Why is told as the failure, unless the program had ended before. */
  kill (failure?: string): void {
    const { exitCode, signal } = this.#ending
    if (exitCode === null && signal === null && failure !== undefined) this.#ending.failure = failure
    // Reading comes after the timers: what was written in time is not lost to a busy moment.
    this.#last ??= setTimeout(() => setImmediate(this.#giveUp), LAST_WORDS)
    const { pid } = this.#child
    try {
      if (process.platform === 'win32') this.#child.kill('SIGKILL')
      else if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {} // There is nobody left.
  }

  async #end (): Promise<Ending> {
    await new Promise<void>((resolve, reject) => {
      this.#giveUp = resolve
      this.#child.on('close', () => resolve()).on('error', reject).on('exit', (exitCode, signal) => {
        Object.assign(this.#ending, { exitCode, signal })
        this.kill()
      })
    })
    return this.#ending
  }

  #leave (): void {
    clearTimeout(this.#last)
    running.delete(this)
    if (running.size === 0) process.off('exit', killAll)
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }
}
