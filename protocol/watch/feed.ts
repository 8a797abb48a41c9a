import { callEach } from '../../lib/listeners.js'
import type { Call } from '../dispatch/call.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { errors } from '../wire/errors.js'
import type { GatewayFacts, Unwritten } from './batch.js'
import type { Recorder } from './recorder.js'
import { StateReader, type Sources } from './state-reader.js'
import { rowsOnce, Watcher } from './watcher.js'

/** In milliseconds. */
const BATCH_INTERVAL = 250
/** How many calls may watch at once. */
const MAX_WATCHERS = 32

/** Feeds the watchers: at first with what was recorded before they came. */
export class Feed {
  readonly #dispatcher: Dispatcher
  readonly #recorder: Recorder
  readonly #sources: Sources
  readonly #maxQueue: number
  readonly #opening: string
  readonly #watchers = new Set<Watcher>()
  #reader: StateReader | undefined
  #timer: NodeJS.Timeout | undefined
  #hasFailed = false

  /**
   * `opening` is what the first batch of each watcher has. A watcher for whom more than `maxQueue` bytes wait to be
   * written is sent nothing until it has read.
   */
  constructor (
    dispatcher: Dispatcher,
    recorder: Recorder,
    sources: Sources,
    opening: { gateway: Unwritten<GatewayFacts> },
    maxQueue: number
  ) {
    this.#dispatcher = dispatcher
    this.#recorder = recorder
    this.#sources = sources
    this.#maxQueue = maxQueue
    this.#opening = JSON.stringify(opening).slice(1, -1)
  }

  /**
   * Sends batches to a call; returns how to stop. `onLost` runs when its client does not read them any more, or may
   * not. Of the members of batches it gets `only` those, or all. Throws when there are too many.
   */
  add (call: Call, onLost: () => void, only?: readonly string[]): () => void {
    if (this.#watchers.size >= MAX_WATCHERS) throw errors.tooManyWatchers(MAX_WATCHERS)
    const { activities, ended } = this.#recorder
    const watcher = new Watcher(call, { owner: activities.of(call.peer), only, onLost }, ended, this.#opening)
    this.#watchers.add(watcher)
    this.#reader ??= new StateReader(this.#dispatcher, this.#recorder, this.#sources)
    this.#timer ??= setInterval(() => this.#tick(), BATCH_INTERVAL).unref()
    return () => this.#remove(watcher)
  }

  #remove (watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return
    clearInterval(this.#timer)
    this.#reader?.stop()
    this.#reader = this.#timer = undefined
  }

  #tick (): void {
    try {
      this.#send()
    } catch (error) {
      this.#fail(error)
    }
  }

  #send (): void {
    if (this.#reader === undefined) return
    const news = { ...this.#reader.read(), rowsSince: rowsOnce(this.#recorder.ended) }
    callEach(
      [...this.#watchers].map(watcher => () => watcher.send(news, this.#maxQueue)),
      error => this.#fail(error)
    )
  }

  // An error is likely to come again at each tick.
  #fail (err: unknown): void {
    if (!this.#hasFailed) this.#dispatcher.observers.reportFault({ err, listener: 'watch' })
    this.#hasFailed = true
  }
}
