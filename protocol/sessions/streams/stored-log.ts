import type { AppendOptions, Appended, LoggedEvent, SessionStore } from '../../store.js'
import type { LogRead, StreamLog } from './sink.js'

/** The events of one stream of one session in the store. */
export class StoredLog implements StreamLog {
  readonly #store: SessionStore
  readonly #session: string
  readonly #key: string
  readonly #onTrouble: (error: unknown) => void
  /** The highest number that was seen, while an earlier one is being recorded. */
  #nextSeen: number | undefined
  #isMarking = false

  constructor (store: SessionStore, session: string, key: string, onTrouble: (error: unknown) => void) {
    this.#store = store
    this.#session = session
    this.#key = key
    this.#onTrouble = onTrouble
  }

  open (interruptedResponse: string): Promise<void> {
    return orUndefined(this.#store.open(this.#session, this.#key, interruptedResponse), this.#onTrouble)
  }

  append (event: LoggedEvent, seen: boolean, options: AppendOptions): Promise<Appended> {
    return orUndefined(this.#store.append(this.#session, this.#key, event, seen, options), this.#onTrouble)
  }

  read (after: number | undefined): Promise<LogRead> {
    return orElse(this.#store.read(this.#session, this.#key, after), 'unavailable', this.#onTrouble)
  }

  attach (after: number | undefined): Promise<LogRead> {
    return orElse(this.#store.attach(this.#session, this.#key, after), 'unavailable', this.#onTrouble)
  }

  async isReader (): Promise<boolean> {
    return await orElse(this.#store.isReader(this.#session, this.#key), true, this.#onTrouble)
  }

  // One write at a time: of all events that are seen meanwhile, the last one counts.
  markSeen (number: number): void {
    this.#nextSeen = number
    if (!this.#isMarking) void this.#markSeen()
  }

  end (): Promise<void> {
    return orUndefined(this.#store.end(this.#session, this.#key), this.#onTrouble)
  }

  async #markSeen (): Promise<void> {
    this.#isMarking = true
    for (let number = this.#nextSeen; number !== undefined; number = this.#nextSeen) {
      this.#nextSeen = undefined
      await orUndefined(this.#store.markSeen(this.#session, this.#key, number), this.#onTrouble)
    }
    this.#isMarking = false
  }
}

/** Resolves to undefined when the store fails: a message that cannot be stored is sent all the same. */
export function orUndefined<T> (stored: Promise<T>, onTrouble: (error: unknown) => void): Promise<T | undefined> {
  return orElse(stored, undefined, onTrouble)
}

async function orElse<T, E> (stored: Promise<T>, otherwise: E, onTrouble: (error: unknown) => void): Promise<T | E> {
  try {
    return await stored
  } catch (error) {
    onTrouble(error)
    return otherwise
  }
}
