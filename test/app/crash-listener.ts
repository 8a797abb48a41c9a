import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../support/wait.js'
import { openSession, type HttpSession } from '../support/http-session.js'
import type { EventReader } from '../support/event-reader.js'
import { numberOf } from '../support/restarting.js'

/** One client that listens to the counter, and takes up its stream again wherever it broke off. */
export class CounterListener {
  /** The numbers of all events, in the order in which they came. */
  readonly numbers: number[] = []
  /** Statuses with which a stream was refused. */
  readonly refused: number[] = []
  updates = 0
  connections = 0
  readonly #session: HttpSession
  #lastId: string | undefined
  #reader: EventReader | undefined
  #over = false
  readonly #loop: Promise<void>

  constructor (session: HttpSession) {
    this.#session = session
    this.#loop = this.#listen()
  }

  static async on (url: string): Promise<CounterListener> {
    const session = await openSession(url, '2025-11-25')
    await session.post({ id: 1, method: 'resources/subscribe', params: { uri: 'server://counter' } })
    return new CounterListener(session)
  }

  /** Waits until so many changes of the counter were notified. */
  async notified (updates: number): Promise<void> {
    await within(60_000, async signal => { while (this.updates < updates) await sleep(10, undefined, { signal }) })
  }

  async stop (): Promise<void> {
    this.#over = true
    this.#reader?.drop()
    await this.#loop
  }

  async #listen (): Promise<void> {
    while (!this.#over) {
      try {
        this.#reader = await this.#session.listen(this.#lastId)
        if (this.#reader.response.status === 200) await this.#read(this.#reader)
        else await this.#wasRefused(this.#reader)
      } catch {
        // Killed, or not up yet.
      }
      await sleep(5)
    }
  }

  async #read (reader: EventReader): Promise<void> {
    this.connections++
    for (let event = await reader.event(); event !== undefined; event = await reader.event()) {
      const { id, data = '' } = event
      this.#lastId = id ?? this.#lastId
      if (data === '') continue
      this.numbers.push(numberOf(id ?? 'without-number'))
      if ((JSON.parse(data) as { method?: string }).method === 'notifications/resources/updated') this.updates++
    }
  }

  async #wasRefused (reader: EventReader): Promise<void> {
    this.refused.push(reader.response.status)
    await reader.response.arrayBuffer()
    await sleep(20)
  }
}
