import type { AppendOptions, Appended, LoggedEvent, Replay, SessionStore } from '../../store.js'
import type { StreamLog } from './sink.js'

/** The events of one stream of one session in the store. */
export class StoredLog implements StreamLog {
  readonly #store: SessionStore
  readonly #session: string
  readonly #key: string
  readonly #onTrouble: (error: unknown) => void

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

  read (after: number | undefined): Promise<Replay | undefined> {
    return orUndefined(this.#store.read(this.#session, this.#key, after), this.#onTrouble)
  }

  attach (after: number | undefined): Promise<Replay | undefined> {
    return orUndefined(this.#store.attach(this.#session, this.#key, after), this.#onTrouble)
  }

  async isReader (): Promise<boolean> {
    return await orUndefined(this.#store.isReader(this.#session, this.#key), this.#onTrouble) ?? true
  }

  markSeen (number: number): void {
    void orUndefined(this.#store.markSeen(this.#session, this.#key, number), this.#onTrouble)
  }

  end (): Promise<void> {
    return orUndefined(this.#store.end(this.#session, this.#key), this.#onTrouble)
  }
}

/** Resolves to undefined when the store fails: a message that cannot be stored is sent all the same. */
export async function orUndefined<T> (stored: Promise<T>, onTrouble: (error: unknown) => void): Promise<T | undefined> {
  try {
    return await stored
  } catch (error) {
    onTrouble(error)
    return undefined
  }
}
