/** Counts calls of the function it returns, and runs `onExcess` at the first one beyond `max` in a second. */
export function limitPerSecond (max: number, onExcess: () => void): () => void {
  let since = -Infinity
  let count = 0
  return () => {
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    if (++count === max + 1) onExcess()
  }
}
