/**
 * The shortest of several attempts in milliseconds, or the least of another measure: a busy machine may delay each of
 * them, but hardly all. Ends with the first that is short enough.
 */
export async function bestTime (enough: number, attempt: () => Promise<number>, attempts = 10): Promise<number> {
  let best = Infinity
  for (let made = 0; made < attempts && best >= enough; made++) best = Math.min(best, await attempt())
  return best
}

/** How long the work takes, in milliseconds. */
export async function timeOf (work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/**
 * The time of the processor that this process spends on the work, in milliseconds; other processes do not lengthen it.
 */
export function cpuTime (work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/**
 * The time of the processor that this process spends until the work settles, in milliseconds, whatever else it does
 * meanwhile.
 */
export async function cpuTimeOf (work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
