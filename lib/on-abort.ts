import { setMaxListeners } from 'node:events'

interface Waiting { all: Set<() => void>, stop: () => void }

const waiting = new WeakMap<AbortSignal, Waiting>()

/**
 * Runs `run` when the signal aborts; returns a function that removes it. A signal gets one listener for all of them: Node.js prints
 * a warning about a leak for more than ten.
 */
export function onAbort (signal: AbortSignal, run: () => void): () => void {
  const { all, stop } = waiting.get(signal) ?? watch(signal)
  all.add(run)
  return () => {
    if (all.delete(run) && all.size === 0) stop()
  }
}

/** A controller whose signal may have any number of listeners without a warning: authors pass it to everything that waits. */
export function createAbortController (aborted?: Error): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  if (aborted !== undefined) controller.abort(aborted)
  return controller
}

function watch (signal: AbortSignal): Waiting {
  const all = new Set<() => void>()
  const runAll = () => { for (const run of all) run() }
  const stop = () => {
    signal.removeEventListener('abort', runAll)
    waiting.delete(signal)
  }
  signal.addEventListener('abort', runAll, { once: true })
  waiting.set(signal, { all, stop })
  return { all, stop }
}
