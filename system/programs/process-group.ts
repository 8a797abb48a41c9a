import type { ChildProcess } from 'node:child_process'
import { killAtExit, signalGroup } from './kill.js'

export interface ExitStatus { exitCode: number | null, signal: string | null, failure?: string }

/**
 * How long to wait for the end of the pipes after a kill, in milliseconds: a process that left the group may hold them
 * open.
 */
const PIPE_TIMEOUT = 250

/**
 * A program that was started detached, with all processes it starts. All of them are killed when this process exits.
 */
export class ProcessGroup {
  /** Settles when the program has ended and its output was read; rejects if it could not be started. */
  readonly ended: Promise<ExitStatus>
  readonly #child: ChildProcess
  readonly #status: ExitStatus = { exitCode: null, signal: null }
  #stopReading = () => {}
  #pipeTimer: NodeJS.Timeout | undefined

  constructor (child: ChildProcess) {
    this.#child = child
    const forget = killAtExit(() => this.kill())
    this.ended = this.#end().finally(() => {
      forget()
      this.#cleanUp()
    })
  }

  /** Kills all of them. `failure` becomes part of the status, unless the program has ended before. */
  kill (failure?: string): void {
    const { exitCode, signal } = this.#status
    if (exitCode === null && signal === null && failure !== undefined) this.#status.failure = failure
    // Node.js runs timers before it reads, so one more turn lets it read what was written in time.
    this.#pipeTimer ??= setTimeout(() => setImmediate(this.#stopReading), PIPE_TIMEOUT)
    if (process.platform === 'win32') this.#child.kill('SIGKILL')
    else signalGroup(this.#child.pid, 'SIGKILL')
  }

  async #end (): Promise<ExitStatus> {
    await new Promise<void>((resolve, reject) => {
      this.#stopReading = resolve
      this.#child.on('close', () => resolve()).on('error', reject).on('exit', (exitCode, signal) => {
        Object.assign(this.#status, { exitCode, signal })
        this.kill()
      })
    })
    return this.#status
  }

  #cleanUp (): void {
    clearTimeout(this.#pipeTimer)
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }
}
