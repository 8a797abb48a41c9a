import { setMaxListeners } from 'node:events'

interface Waiting { all: Set<() => void>, stop: () => void }

const waiting = new WeakMap<AbortSignal, Waiting>()

/**
 * Runs when the signal aborts; returns how to take that back. However many wait for one signal, it has one listener: Node.js takes
 * more than ten for a leak and prints a warning.
 */
export function onAbort (signal: AbortSignal, run: () => void): () => void {
  const { all, stop } = waiting.get(signal) ?? watch(signal)
  all.add(run)
  return () => {
    if (all.delete(run) && all.size === 0) stop()
  }
}

/** For a signal that an author hands to everything that waits: many listeners on it are no leak, because it ends with its call. */
export function createAbortController (aborted?: Error): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  if (aborted !== undefined) controller.abort(aborted)
  return controller
}

function watch (signal: AbortSignal): Waiting {
  const all = new Set<() => void>()
  const tell = () => { for (const run of all) run() }
  const stop = () => {
    signal.removeEventListener('abort', tell)
    waiting.delete(signal)
  }
  signal.addEventListener('abort', tell, { once: true })
  waiting.set(signal, { all, stop })
  return { all, stop }
}
