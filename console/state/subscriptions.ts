import { signal } from '@preact/signals'
import type { Client } from '../client/contract.js'

export interface Subscription {
  uri: string
  state: 'starting' | 'on' | 'failed'
  error?: string
  /** When the last change was announced, and how many were. */
  changedAt?: number
  changes: number
}

/** The resources this page hears of, by URI. They outlive a connection. */
export const subscriptions = signal<ReadonlyMap<string, Subscription>>(new Map())

const ends = new Map<string, () => void>()
/** Which `subscribe` counts for a URI: the latest one. */
const turns = new Map<string, object>()

/** Begins to hear of a resource. */
export async function subscribe (client: Client, uri: string): Promise<void> {
  const turn = {}
  turns.set(uri, turn)
  update(uri, { state: 'starting', changes: subscriptions.peek().get(uri)?.changes ?? 0 })
  try {
    const end = await client.subscribe(uri, () => noteChange(uri))
    if (turns.get(uri) !== turn) { end(); return }
    ends.set(uri, end)
    update(uri, { state: 'on' })
  } catch (error) {
    if (turns.get(uri) === turn) {
      update(uri, { state: 'failed', error: error instanceof Error ? error.message : String(error) })
    }
  }
}

export function unsubscribe (uri: string): void {
  ends.get(uri)?.()
  ends.delete(uri)
  turns.delete(uri)
  const rest = new Map(subscriptions.peek())
  rest.delete(uri)
  subscriptions.value = rest
}

/** Forgets all of them, for another caller. */
export function forgetSubscriptions (): void {
  for (const uri of subscriptions.peek().keys()) unsubscribe(uri)
}

/** Subscribes again over a new connection. */
export function resubscribe (client: Client): void {
  ends.clear()
  for (const uri of subscriptions.peek().keys()) void subscribe(client, uri)
}

function noteChange (uri: string): void {
  const before = subscriptions.peek().get(uri)
  if (before !== undefined) update(uri, { changedAt: Date.now(), changes: before.changes + 1 })
}

/** `starting` makes an entry; anything else changes one that is still there. */
function update (uri: string, change: Partial<Subscription>): void {
  const before = subscriptions.peek().get(uri)
  if (before === undefined && change.state !== 'starting') return
  subscriptions.value = new Map(subscriptions.peek()).set(uri, {
    uri,
    state: 'starting',
    changes: 0,
    ...before,
    ...change
  })
}
