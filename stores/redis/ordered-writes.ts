import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../lib/time.js'
import { errors } from '../../protocol/wire/errors.js'

/**
 * Runs the script of a write. Both arguments are numbers of writes: of this one, and of the one before it that has no
 * reply yet, or 0.
 */
export type SendWrite = (number: string, previous: string) => Promise<unknown>

interface Write {
  readonly number: number
  readonly send: SendWrite
  readonly size: number
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
  /** Why it has to be sent again. */
  failure?: unknown
  /** True while it waits to be sent again, or for the reply to that. */
  isSentAgain?: boolean
  /** True when its reply is not waited for any more. */
  isLate?: boolean
}

/** The reply of a script when a write before it was not made yet. */
const EARLY = 'early'
/** In milliseconds. */
const RETRY_EVERY = 20
/** How many characters may wait for a reply. */
const MAX_SIZE = 64 * 1_048_576

/**
 * The writes to each stream in the order in which they were begun, each made once, also when the connection fails and
 * it is not known which of them Redis has made. All are sent at once. A script knows by the numbers of the writes which
 * it has made, and refuses one that comes early.
 */
export class OrderedWrites {
  readonly #isReady: () => boolean
  readonly #queues = new Map<string, Write[]>()
  #lastNumber = 0
  #size = 0
  #pause: Promise<void> | undefined

  constructor (isReady: () => boolean) {
    this.#isReady = isReady
  }

  /**
   * The reply. Rejects when Redis refuses the write, or does not reply for `timeout` milliseconds; it may be made later
   * then.
   */
  async write (stream: string, send: SendWrite, size: number, timeout: number): Promise<unknown> {
    if (this.#size > 0 && this.#size + size > MAX_SIZE) throw errors.storage('too many events wait for Redis')
    const { promise, write } = this.#begin(stream, send, size)
    return await withTimeout(promise, timeout, async () => {
      // The reply may be there already, while this process was too busy to read it.
      for (let turns = 0; turns < 2; turns++) await turn()
      write.isLate = true
      throw errors.storage('Redis does not answer')
    })
  }

  #begin (stream: string, send: SendWrite, size: number): { promise: Promise<unknown>, write: Write } {
    let [resolve, reject]: [Write['resolve'], Write['reject']] = [() => {}, () => {}]
    const promise = new Promise<unknown>((...settle) => { [resolve, reject] = settle })
    const write: Write = { number: ++this.#lastNumber, send, size, resolve, reject }
    const queue = this.#queues.get(stream) ?? []
    const last = queue.at(-1)
    this.#size += size
    this.#queues.set(stream, queue)
    queue.push(write)
    if (last !== undefined && queue.some(({ failure }) => failure !== undefined)) write.failure = EARLY
    else void this.#send(stream, queue, write, last?.number ?? 0)
    return { promise, write }
  }

  async #send (stream: string, queue: Write[], write: Write, previous: number): Promise<void> {
    try {
      const reply = await write.send(String(write.number), String(previous))
      if (reply !== EARLY) return this.#remove(stream, queue, write, () => write.resolve(reply))
      write.failure = EARLY
    } catch (error) {
      // Redis has replied that it does not do it.
      if (this.#isReady()) return this.#remove(stream, queue, write, () => write.reject(error))
      write.failure = error
    }
    write.isSentAgain = false
    if (queue[0] === write) void this.#sendAgain(stream, queue, write)
  }

  /**
   * Only the first of a stream is sent again, when those before it have their replies; not twice at once, when later
   * ones get theirs meanwhile.
   */
  async #sendAgain (stream: string, queue: Write[], write: Write): Promise<void> {
    if (write.isSentAgain === true) return
    write.isSentAgain = true
    while (!this.#isReady() || write.isLate === true) {
      if (write.isLate === true) return this.#remove(stream, queue, write, () => write.reject(write.failure))
      await (this.#pause ??= this.#wait())
    }
    await this.#send(stream, queue, write, 0)
  }

  #remove (stream: string, queue: Write[], write: Write, settle: () => void): void {
    queue.splice(queue.indexOf(write), 1)
    this.#size -= write.size
    if (queue.length === 0) this.#queues.delete(stream)
    settle()
    const first = queue[0]
    if (first?.failure !== undefined) void this.#sendAgain(stream, queue, first)
  }

  async #wait (): Promise<void> {
    await sleep(RETRY_EVERY, undefined, { ref: false })
    this.#pause = undefined
  }
}
