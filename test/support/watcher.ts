import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createClient, type Client, type ClientOptions } from '../../app.js'
import { until } from './wait.js'

type Json = Record<string, unknown>

export const WATCH = 'notifications/patchbay/watch'

/** A batch as it comes over the wire. */
export interface Batch {
  requestId: unknown
  at: number
  gateway?: Json
  ended?: Json[]
  dropped?: number
  seconds?: Json[]
  inFlight?: { total: number, rows: Json[] }
  tools?: Json[]
  totals?: Json
  clients?: { total: number, sessions: number, rows: Json[] }
  refusals?: Json[]
  upstreams?: Json[]
  nodes?: Json[]
  health?: Json
}

/** A client in this process that watches, and all that it was told. */
export class Watcher {
  readonly client: Client
  /** Settles with the result or the error of the request. */
  readonly answer: Promise<unknown>
  readonly #controller = new AbortController()

  static async open (t: Test, app: FastifyInstance, options: ClientOptions = {}): Promise<Watcher> {
    const watcher = new Watcher(await createClient(app, options))
    t.teardown(() => watcher.client.close())
    await until(() => watcher.batches.length > 0, 'a first batch')
    return watcher
  }

  constructor (client: Client) {
    this.client = client
    this.answer = client.request('patchbay/watch', {}, this.#controller.signal).catch((error: unknown) => error)
  }

  get batches (): Batch[] {
    return this.client.notifications
      .filter(({ method }) => method === WATCH)
      .map(({ params }) => params as unknown as Batch)
  }

  /** The last state of a member that was sent. */
  last<K extends keyof Batch> (name: K): Batch[K] | undefined {
    return this.batches.findLast(batch => batch[name] !== undefined)?.[name]
  }

  get ended (): Json[] {
    return this.batches.flatMap(({ ended = [] }) => ended)
  }

  get dropped (): number {
    return this.batches.reduce((sum, { dropped = 0 }) => sum + dropped, 0)
  }

  get seconds (): Json[] {
    return this.batches.flatMap(({ seconds = [] }) => seconds)
  }

  async stop (): Promise<void> {
    this.#controller.abort()
    await this.answer
  }
}
