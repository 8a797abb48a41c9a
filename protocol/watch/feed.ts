import { callEach } from '../../lib/listeners.js'
import type { Call } from '../dispatch/call.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { errors } from '../wire/errors.js'
import { Recorder, type Sources } from './recorder.js'
import { rowsOnce, Watcher } from './watcher.js'

/** In milliseconds. */
const BATCH_INTERVAL = 250
/** How many calls may watch at once. */
const MAX_WATCHERS = 32

/** What watchers are sent. Calls are recorded as long as there is a watcher, and from the beginning with the next one. */
export class Feed {
  readonly #dispatcher: Dispatcher
  readonly #sources: Sources
  readonly #maxQueue: number
  readonly #opening: string
  readonly #watchers = new Set<Watcher>()
  #recorder: Recorder | undefined
  #timer: NodeJS.Timeout | undefined
  #hasFailed = false

  /** `opening` is what the first batch of each watcher has. A watcher for whom more than `maxQueue` bytes wait to be written is sent nothing until it has read. */
  constructor (dispatcher: Dispatcher, sources: Sources, opening: object, maxQueue: number) {
    this.#dispatcher = dispatcher
    this.#sources = sources
    this.#maxQueue = maxQueue
    this.#opening = JSON.stringify(opening).slice(1, -1)
  }

  /** Sends batches to a call; returns how to stop. `onLost` runs when its client does not read them any more, or may not. Throws when there are too many. */
  add (call: Call, onLost: () => void): () => void {
    if (this.#watchers.size >= MAX_WATCHERS) throw errors.tooManyWatchers(MAX_WATCHERS)
    const recorder = this.#recorder ??= new Recorder(this.#dispatcher, this.#sources)
    const watcher = new Watcher(call, recorder.ended, this.#opening, onLost)
    this.#watchers.add(watcher)
    recorder.watching.add(call.peer)
    this.#timer ??= setInterval(() => this.#tick(), BATCH_INTERVAL).unref()
    return () => this.#remove(watcher, recorder)
  }

  #remove (watcher: Watcher, recorder: Recorder): void {
    if (!this.#watchers.delete(watcher)) return
    if (![...this.#watchers].some(({ call: { peer } }) => peer === watcher.call.peer)) recorder.watching.delete(watcher.call.peer)
    if (this.#watchers.size > 0) return
    clearInterval(this.#timer)
    recorder.stop()
    this.#recorder = this.#timer = undefined
  }

  #tick (): void {
    try {
      this.#send()
    } catch (error) {
      this.#fail(error)
    }
  }

  #send (): void {
    const recorder = this.#recorder
    if (recorder === undefined) return
    const news = { ...recorder.read(), rowsSince: rowsOnce(recorder.ended) }
    callEach([...this.#watchers].map(watcher => () => watcher.send(news, this.#maxQueue)), error => this.#fail(error))
  }

  // What failed once is likely to fail at each tick.
  #fail (err: unknown): void {
    if (!this.#hasFailed) this.#dispatcher.observers.reportFault({ err, listener: 'watch' })
    this.#hasFailed = true
  }
}
