import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { FastifyBaseLogger } from 'fastify'
import type { LogLines } from '../system/process/log-lines.js'
import { expectSignals } from './signals.js'

/** For how long the end waits for a reader of the log that takes nothing of it, in milliseconds. */
export const LAST_WORD = 5_000

export interface ShutdownOptions {
  logger: FastifyBaseLogger
  logs: LogLines
  /** How long answering what is in flight may take, in milliseconds. */
  grace: number
  /** Ends what is served, and settles when everything was answered. */
  close: () => Promise<void>
}

/** The end of a gateway in order, whatever wants it: a signal, an error that was not caught, or the end of standard input. */
export class Shutdown {
  readonly #options: ShutdownOptions
  readonly #delay: number
  readonly #closing: { close: () => void }
  #faulty = false
  #ending: Promise<void> | undefined

  /** From now on signals and errors end the gateway. */
  constructor (options: ShutdownOptions) {
    this.#options = options
    const { logger, grace } = options
    // Answering what is in flight, and sending it over HTTP and over stdio, may each take the whole grace.
    this.#delay = 3 * grace + 5_000
    this.#closing = closeWithGrace({ delay: this.#delay, logger, skip: ['unhandledRejection', 'uncaughtException', 'SIGHUP'] }, async ({ signal }) => {
      await this.#end({ signal })
      if (this.#faulty) throw new Error('an error was not caught')
    })
    expectSignals()
    // Such an error may have left anything half done. So what is in flight is answered, however many more errors follow, and the process
    // ends with 1: a supervisor may start it anew.
    process.on('uncaughtException', error => {
      // Never fatal, see plugins/capabilities/logging.ts.
      logger.error({ err: error }, 'an error was thrown where nobody can catch it')
      this.#faulty = true
      if (this.#ending === undefined) this.#closing.close()
    })
    // A promise that a tool forgot must not take the calls of others down.
    process.on('unhandledRejection', error => logger.error({ err: error }, 'a promise was rejected and nobody looked'))
  }

  get begun (): boolean {
    return this.#ending !== undefined
  }

  /** Ends the process. A signal that comes meanwhile is the first one. */
  async now (reason: string): Promise<void> {
    await Promise.race([this.#end({ reason }), sleep(this.#delay, undefined, { ref: false })])
    this.#closing.close()
  }

  /** Once, however often it is wanted. */
  async #end (why: object): Promise<void> {
    await (this.#ending ??= this.#close(why))
  }

  async #close (why: object): Promise<void> {
    const { logger, logs, close } = this.#options
    logger.info(why, 'shutting down')
    try {
      await close()
      logger.info('ended')
    } catch (error) {
      this.#faulty = true
      logger.error({ err: error }, 'the end was not in order')
    }
    await logs.written(LAST_WORD)
  }
}
