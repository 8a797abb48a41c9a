import { existsSync, readFileSync } from 'node:fs'

const SCHEDULED = '/proc/thread-self/schedstat'
const isScheduledHere = existsSync(SCHEDULED)

/**
 * The longest turn of the event loop while the work goes on, in milliseconds. By the clock or by the time of the
 * processor that the thread used, whichever is shorter: the clock goes on while other processes run, and Linux tells
 * the other to a few milliseconds.
 */
export async function longestTurn (work: () => Promise<unknown>): Promise<number> {
  const now = (): [clock: number, used: number] => [performance.now(), threadTime()]
  let [longest, last] = [0, now()]
  const endTurn = (): void => {
    const [clock, used] = now()
    longest = Math.max(longest, Math.min(clock - last[0], used - last[1]))
    last = [clock, used]
  }
  const turn = (): void => {
    endTurn()
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  try {
    await work()
    endTurn()
    return longest
  } finally {
    clearImmediate(next)
  }
}

/** Helpers of V8, which collect garbage beside the thread, do not count where the system knows threads apart. */
function threadTime (): number {
  if (isScheduledHere) return Number(readFileSync(SCHEDULED, 'latin1').split(' ', 1)[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
