import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** Reads and writes the clipboard of the system, until the signal aborts. */
export interface ClipboardBackend {
  read: (limit: AbortSignal) => Promise<string>
  write: (text: string, limit: AbortSignal) => Promise<void>
}

/** How long a text may take to appear after xsel has ended, and how often to look for it, in milliseconds. */
const APPEAR_TIMEOUT = 1_000
const RETRY_INTERVAL = 10

/** xsel transfers texts of about 4,000 bytes and more in parts. */
const LONG = 1_000

/**
 * Works around two defects of xsel. It goes to the background before it owns the clipboard, so that a read at once may
 * return the previous text. And when it transfers a long text to a program that ends at once, as xsel itself does, it
 * may crash and lose the text: https://github.com/kfish/xsel/issues/33. Only a digest of the text is stored.
 */
export class Xsel {
  readonly #backend: ClipboardBackend
  #copied = { digest: '', at: -Infinity }

  constructor (backend: ClipboardBackend) {
    this.#backend = backend
  }

  async write (text: string, limit: AbortSignal): Promise<void> {
    await this.#backend.write(text, limit)
    this.#copied = { digest: digestOf(text), at: performance.now() }
  }

  async read (limit: AbortSignal): Promise<string> {
    for (;;) {
      const text = await this.#backend.read(limit)
      if (digestOf(text) === this.#copied.digest) return await this.#writeBack(text, limit)
      if (performance.now() > this.#copied.at + APPEAR_TIMEOUT) return text
      await sleep(RETRY_INTERVAL, undefined, { signal: limit })
    }
  }

  async #writeBack (text: string, limit: AbortSignal): Promise<string> {
    // The read has succeeded even if writing the text back fails.
    if (text.length > LONG) await this.write(text, limit).catch(() => {})
    return text
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')
