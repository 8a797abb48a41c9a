import { growingDelay } from '../../lib/time.js'

/** The first and the longest delay between attempts, in milliseconds. */
const DELAYS = [100, 5_000] as const
/** After how many attempts a fault is reported. */
const MANY = 10

/** How long a step is attempted, and what is told of its failure, once. */
export interface Persistence {
  /** In milliseconds since 1970. */
  readonly until: number
  /** Ends the attempts, with one more. */
  readonly signal: AbortSignal
  readonly onFault: (error: unknown) => void
}

/** Takes a step of a task, again and again while the store fails; undefined where it failed until the end. */
export async function persist<T> (
  step: () => Promise<T>,
  { until, signal, onFault }: Persistence
): Promise<T | undefined> {
  for (let attempt = 0; ; attempt++) {
    const isLast = signal.aborted || Date.now() >= until
    try {
      return await step()
    } catch (error) {
      if (attempt === MANY || (isLast && attempt < MANY)) onFault(error)
      if (isLast) return undefined
    }
    await pause(growingDelay(...DELAYS, attempt), signal)
  }
}

async function pause (ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal.addEventListener('abort', end)
  })
}
