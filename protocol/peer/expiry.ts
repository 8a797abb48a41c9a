import { hasExpired, type Identity } from '../wire/identity.js'

/**
 * The clock is read at least this often, in milliseconds, because it may be set; far below the longest delay of a
 * timer.
 */
const CHECK_INTERVAL = 60_000

/** The timers for each identity, as functions that set them again. */
const waiting = new WeakMap<Identity, Set<() => void>>()

/**
 * Runs `expired` once, when the credential of an identity expires; never when it does not. Returns a function that
 * stops waiting.
 */
export function onExpiry (identity: Identity, expired: () => void): () => void {
  // Only a credential can expire or be revoked; an anonymous identity has none.
  if (identity.principal === undefined && identity.expires === undefined) return () => {}
  let timer: NodeJS.Timeout | undefined
  const check = () => {
    if (!hasExpired(identity)) return wait()
    stop()
    expired()
  }
  const wait = () => {
    const { expires } = identity
    clearTimeout(timer)
    timer =
      expires === undefined
        ? undefined
        : setTimeout(check, Math.min(Math.max(expires - Date.now(), 0), CHECK_INTERVAL)).unref()
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

/** To be called when `expires` of an identity was changed: sets its timers again. */
export function rescheduleExpiry (identity: Identity): void {
  for (const wait of waiting.get(identity) ?? []) wait()
}
