import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from './gateway.js'

const TIMEOUT = 60_000
/** How long the test waits for notifications that come twice. */
const AFTERWARDS = 1_000

/** One of many who only listen. */
export class Listener {
  received = 0
  gone = false

  receive (text: string): void {
    if (text.includes('notifications/tools/list_changed')) this.received++
  }

  leave (): void {
    this.gone = true
  }
}

export class Audience {
  readonly #listeners: Listener[] = []

  join (): Listener {
    const listener = new Listener()
    this.#listeners.push(listener)
    return listener
  }

  get size (): number {
    return this.#listeners.length
  }

  get left (): number {
    return this.#listeners.filter(({ gone }) => gone).length
  }

  count (matches: (times: number) => boolean): number {
    return this.#listeners.filter(listener => matches(listener.received)).length
  }
}

/** Changes the list of tools: how long until every client is notified, and how many are not or twice. */
export async function announced (
  gateway: Gateway,
  audience: Audience
): Promise<{ ms: number, missing: number, double: number }> {
  const since = performance.now()
  await gateway.call('load_change')
  while (audience.count(times => times === 0) > 0 && performance.now() - since < TIMEOUT) await sleep(5)
  const ms = performance.now() - since
  await sleep(AFTERWARDS)
  return { ms, missing: audience.count(times => times === 0), double: audience.count(times => times > 1) }
}
