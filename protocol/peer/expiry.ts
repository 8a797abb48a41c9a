import { hasExpired, type Identity } from '../wire/identity.js'

/** How long nobody looks at the clock, which somebody may set; far below what a timer can hold. */
const LOOK_AGAIN = 60_000

/** Those who wait for the end of an identity: each sets its timer anew when called. */
const waiting = new WeakMap<Identity, Set<() => void>>()

/** Runs once, when an identity expires; not at all when it never does. Returns how to take it back. */
export function onExpiry (identity: Identity, expired: () => void): () => void {
  // Only what says who a caller is can be taken back.
  if (identity.principal === undefined && identity.expires === undefined) return () => {}
  let timer: NodeJS.Timeout | undefined
  const look = () => {
    if (!hasExpired(identity)) return wait()
    stop()
    expired()
  }
  const wait = () => {
    const { expires } = identity
    clearTimeout(timer)
    timer = expires === undefined ? undefined : setTimeout(look, Math.min(Math.max(expires - Date.now(), 0), LOOK_AGAIN)).unref()
  }
  const stop = () => {
    clearTimeout(timer)
    others.delete(wait)
  }
  const others = waiting.get(identity) ?? new Set()
  waiting.set(identity, others.add(wait))
  wait()
  return stop
}

/** Has to be called when the end of an identity was changed: those who wait for it wait for the new one. */
export function rescheduleExpiry (identity: Identity): void {
  for (const wait of waiting.get(identity) ?? []) wait()
}
