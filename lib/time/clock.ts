// The global `performance` is a getter that costs more than reading the clock, so it is read once.
const { performance } = globalThis

/** Milliseconds on the monotonic clock, which cannot be set. */
export const now = (): number => performance.now()
