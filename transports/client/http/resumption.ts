import { growingDelay } from '../../../lib/time.js'
import type { ReplyBody } from './reply-body.js'

/** How often a broken stream is opened again without a new event. */
const MAX_RESUMES = 5
const FIRST_DELAY = 1_000
/** The shortest delay, whatever the server says: each new event may be followed by another break. */
const MIN_DELAY = 100
const MAX_DELAY = 30_000

/** The point after which the stream of a request can be opened again, where the server gives its events ids. */
export class Resumption {
  #after: string | undefined
  #count = 0

  /**
   * Plans to fetch the rest of a reply that broke off, after a delay in milliseconds. Undefined where that cannot be,
   * `too often` where it was tried without a new event.
   */
  plan (body: ReplyBody | undefined): { after: string, delay: number } | 'too often' | undefined {
    const after = body?.lastEventId ?? this.#after
    if (after === undefined) return undefined
    if (after !== this.#after) this.#count = 0
    if (++this.#count > MAX_RESUMES) return 'too often'
    this.#after = after
    const wanted = body?.retry ?? growingDelay(FIRST_DELAY, MAX_DELAY, this.#count - 1)
    return { after, delay: Math.min(Math.max(wanted, MIN_DELAY), MAX_DELAY) }
  }
}
