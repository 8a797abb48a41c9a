import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

interface Door {
  read: (limit: AbortSignal) => Promise<string>
  write: (text: string, limit: AbortSignal) => Promise<void>
}

/** How long a text may take to appear after xsel said it was copied, and how often it is looked for. */
const PATIENCE = 1_000
const PAUSE = 10

/** From about 4,000 bytes on xsel hands a text out in parts. */
const LONG = 1_000

/**
 * Makes two habits of xsel invisible. It goes to the background before it takes the clipboard, so whoever reads at once may get what was there
 * before. And when it hands out a long text to a program that ends at once, as the xsel that reads does, it may die with the text:
 * https://github.com/kfish/xsel/issues/33. Only a digest of the text is kept.
 */
export class Xsel {
  readonly #door: Door
  #copied = { digest: '', at: -Infinity }

  constructor (door: Door) {
    this.#door = door
  }

  async write (text: string, limit: AbortSignal): Promise<void> {
    await this.#door.write(text, limit)
    this.#copied = { digest: digestOf(text), at: performance.now() }
  }

  async read (limit: AbortSignal): Promise<string> {
    for (;;) {
      const text = await this.#door.read(limit)
      if (digestOf(text) === this.#copied.digest) return await this.#kept(text, limit)
      if (performance.now() > this.#copied.at + PATIENCE) return text
      await sleep(PAUSE, undefined, { signal: limit })
    }
  }

  async #kept (text: string, limit: AbortSignal): Promise<string> {
    // Whoever asked for the text has it, whether or not it could be put back.
    if (text.length > LONG) await this.write(text, limit).catch(() => {})
    return text
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')
