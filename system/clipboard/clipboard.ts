import { release } from 'node:os'
import { ClipboardError, clipboardFailure, noAnswer, noDisplay, sessionOf, tooLong } from './clipboard-error.js'
import { killable } from './killable.js'
import { Semaphore } from '../../lib/semaphore.js'
import { Xsel, type ClipboardBackend } from './xsel.js'

/** The longest text that is read or written, in characters (code points). */
export const MAX_TEXT = 1_048_576

/**
 * The clipboard of this machine. Calls run one after the other; each fails with a `ClipboardError`, or with the reason
 * of its signal.
 */
export class Clipboard {
  readonly #semaphore = new Semaphore(1)
  readonly #xsel = new Xsel(clipboardy)
  readonly #timeout: number

  constructor (timeout = 5_000) {
    this.#timeout = timeout
  }

  async read (signal?: AbortSignal): Promise<string> {
    const text = await this.#use(async limit => await this.#backend.read(limit), signal)
    if (text.length > MAX_TEXT && characters(text) > MAX_TEXT) throw tooLong(MAX_TEXT)
    return text
  }

  async write (text: string, signal?: AbortSignal): Promise<void> {
    await this.#use(async limit => await this.#backend.write(text, limit), signal)
  }

  /** Why there is no clipboard now, and what to do about it; undefined if there may be one. */
  obstacle (): string | undefined {
    if (session() !== 'none') return undefined
    const { message, hint } = noDisplay()
    return `${message}. ${hint}`
  }

  get #backend () {
    return session() === 'x11' ? this.#xsel : clipboardy
  }

  async #use<T> (work: (limit: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return await this.#semaphore.run(signal, async () => {
      if (session() === 'none') throw noDisplay()
      return await runWithLimit(this.#timeout, work, signal)
    })
  }
}

/** The number of code points, which is what JSON Schema counts: an emoji outside the basic plane is one. */
export function characters (text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index += (text.codePointAt(index) as number) > 0xFFFF ? 2 : 1) count++
  return count
}

const session = () => sessionOf(process.platform, process.env, release())

// Loaded on first use, because the library decides between X11 and Wayland when it is loaded.
const clipboardy: ClipboardBackend = {
  read: async (limit: AbortSignal) =>
    await killable(async () => await (await import('clipboardy')).default.read(), limit),
  write: async (text: string, limit: AbortSignal) =>
    await killable(async () => await (await import('clipboardy')).default.write(text), limit)
}

async function runWithLimit<T> (
  ms: number,
  work: (limit: AbortSignal) => Promise<T>,
  signal?: AbortSignal
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(noAnswer(ms)), ms)
  const limit = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  try {
    return await work(limit)
  } catch (error) {
    limit.throwIfAborted()
    throw error instanceof ClipboardError ? error : clipboardFailure(error, session())
  } finally {
    clearTimeout(timer)
  }
}
