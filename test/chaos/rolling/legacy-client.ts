import { setTimeout as sleep } from 'node:timers/promises'
import type { EventReader, Json } from '../../support/event-reader.js'
import { openSession, type HttpSession } from '../../support/http-session.js'
import { noteRun, Tally } from './tally.js'

const STEPS = 5
/** In milliseconds, and how often. */
const RETRY = 100
const TRIES = 100

/**
 * A client with a session that makes streamed calls and reads its standalone stream. It resumes both wherever they
 * break.
 */
export class LegacyClient {
  readonly tally: Tally
  /** The tokens that came over the standalone stream. */
  readonly notified: string[] = []
  resumed = 0
  readonly #session: HttpSession
  #standalone: EventReader | undefined
  #hasLeft = false

  static async open (url: string, name: string): Promise<LegacyClient> {
    const session = await openSession(url)
    await session.post({ method: 'notifications/initialized' })
    return new LegacyClient(session, new Tally(name))
  }

  private constructor (session: HttpSession, tally: Tally) {
    this.#session = session
    this.tally = tally
  }

  /** Makes one call after the other, until the signal. */
  async call (signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const token = this.tally.next()
      this.tally.note(token, await this.#callOnce(token).catch(String))
    }
  }

  async #callOnce (token: string): Promise<Json | string> {
    let reader = await this.#session.stream(noteRun(token, token, STEPS, { progressToken: token }))
    let last: string | undefined
    for (let tries = 0; tries < TRIES; tries++) {
      if (reader.response.status !== 200) return `status ${reader.response.status}`
      for await (const { id, message } of eventsOf(reader)) {
        last = id ?? last
        if (message?.['id'] === token) return message
      }
      // Without the id of an event there is nothing to resume.
      if (last === undefined) return 'the connection broke before the first event'
      this.resumed++
      reader = await this.#reopen(last)
    }
    return 'the response did not come'
  }

  /** Reads the standalone stream, until the client leaves. */
  async listen (): Promise<void> {
    for (let last: string | undefined; !this.#hasLeft; this.resumed++) {
      this.#standalone = await this.#reopen(last)
      for await (const { id, message } of eventsOf(this.#standalone)) {
        last = id ?? last
        const { data } = (message?.['params'] ?? {}) as { data?: string }
        if (data !== undefined) this.notified.push(data)
      }
    }
  }

  async leave (): Promise<void> {
    this.#hasLeft = true
    this.#standalone?.drop()
    await this.#session.end()
  }

  async #reopen (last: string | undefined): Promise<EventReader> {
    for (let tries = 1; ; tries++) {
      await sleep(RETRY)
      const reader = await this.#session.listen(last).catch(error => { if (tries === TRIES) throw error })
      if (reader !== undefined && (reader.response.status === 200 || tries === TRIES)) return reader
    }
  }
}

/** The events of a connection until it ends or breaks. */
async function * eventsOf (reader: EventReader): AsyncGenerator<{ id: string | undefined, message: Json | undefined }> {
  const next = async () => await reader.event().catch(() => undefined)
  for (let event = await next(); event !== undefined; event = await next()) {
    yield {
      id: event.id,
      message: event.data === undefined || event.data === '' ? undefined : JSON.parse(event.data) as Json
    }
  }
}
