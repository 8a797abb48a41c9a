import type { Identity } from './identity.js'

/** How long nobody looks at the clock, which somebody may set; far below what a timer can hold. */
const LOOK_AGAIN = 60_000

/** Runs once, when an identity expires; not at all when it never does. Returns how to take it back. */
export function onExpiry ({ expires }: Identity, expired: () => void): () => void {
  if (expires === undefined) return () => {}
  let timer: NodeJS.Timeout
  const look = () => {
    if (expires <= Date.now()) expired()
    else wait()
  }
  const wait = () => { timer = setTimeout(look, Math.min(Math.max(expires - Date.now(), 0), LOOK_AGAIN)).unref() }
  wait()
  return () => clearTimeout(timer)
}
