import { setTimeout as sleep } from 'node:timers/promises'

/** In milliseconds: how often we look. */
const BEAT = 50

/** The latest that was read when it is as it should be, or when that has taken too long. */
export async function readUntil<T> (read: () => Promise<T>, isDone: (seen: T) => boolean, timeout: number): Promise<T> {
  const until = Date.now() + timeout
  for (;;) {
    const seen = await read()
    if (isDone(seen) || Date.now() > until) return seen
    await sleep(BEAT)
  }
}
