import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import { describeThrown } from '../../lib/one-line.js'
import { withTimeout } from '../../lib/time.js'
import type { LogLines } from '../../system/process/log-lines.js'
import { expectSignals } from './signals.js'

/** How long the end of the process waits for a reader of the log that reads nothing, in milliseconds. */
export const FLUSH_TIMEOUT = 5_000
/** The longest text of an error in a sentence, in characters. */
const MAX_ERROR = 400

export interface ShutdownOptions {
  logger: FastifyBaseLogger
  logs: LogLines
  /** How long calls in flight may take to finish, in milliseconds. */
  grace: number
  /** For how long calls are accepted before that, in milliseconds. */
  drainDelay?: number
  /** Closes the gateway, and settles when all calls in flight are answered. */
  close: () => Promise<void>
}

/** The orderly end of a gateway, after a signal, an uncaught exception or the end of standard input. */
export class Shutdown {
  readonly #options: ShutdownOptions
  readonly #timeout: number
  readonly #grace: { close: () => void }
  #failed = false
  #closing: Promise<void> | undefined

  /** From now on signals and uncaught exceptions shut the gateway down. */
  constructor (options: ShutdownOptions) {
    this.#options = options
    const { logger, grace, drainDelay = 0 } = options
    // Answering what is in flight, sending it over HTTP and sending it over stdio may each take the whole grace period.
    this.#timeout = drainDelay + 3 * grace + 5_000
    this.#grace = closeWithGrace(
      { delay: this.#timeout, logger, skip: ['unhandledRejection', 'uncaughtException', 'SIGHUP'] },
      async ({ signal }) => {
        await this.#closeOnce({ signal })
        // An error thrown here would be logged once more.
        if (this.#failed) process.exit(1)
      }
    )
    expectSignals()
    process.on('uncaughtException', error => this.#onUncaught(error))
    // A promise that a tool forgot must not end the calls of others.
    process.on('unhandledRejection', error =>
      logger.error({ err: error }, `unhandled rejection: ${describeThrown(error, MAX_ERROR)}`)
    )
  }

  get hasBegun (): boolean {
    return this.#closing !== undefined
  }

  /** Shuts the gateway down and ends the process. A signal that comes meanwhile counts as the first one. */
  async run (reason: string): Promise<void> {
    await withTimeout(this.#closeOnce({ reason }), this.#timeout, () => this.#giveUp())
    this.#grace.close()
  }

  /** Ends the process: `close-with-grace` would wait as long again. */
  #giveUp (): never {
    this.#options.logger.error(`shutdown failed: it did not end within ${this.#timeout} ms`)
    process.exit(1)
  }

  // The error may have left anything half done. So what is in flight is answered, however many more errors follow, and
  // the process ends with exit code 1, so that a supervisor starts it again.
  #onUncaught (error: Error): void {
    // At level error, never fatal: see plugins/capabilities/logging.ts.
    this.#options.logger.error({ err: error }, `uncaught exception: ${describeThrown(error, MAX_ERROR)}`)
    this.#failed = true
    if (this.#closing === undefined) this.#grace.close()
  }

  async #closeOnce (why: object): Promise<void> {
    await (this.#closing ??= this.#close(why))
  }

  async #close (why: object): Promise<void> {
    const { logger, logs, close } = this.#options
    logger.info(why, 'shutting down')
    try {
      await close()
      logger.info('shutdown complete')
    } catch (error) {
      this.#failed = true
      logger.error({ err: error }, `shutdown failed: ${describeThrown(error, MAX_ERROR)}`)
    }
    await logs.waitUntilWritten(FLUSH_TIMEOUT)
  }
}
