/** Milliseconds on the machine's monotonic clock, which all its processes share. It cannot be set, and begins again with the machine. */
export const machineTime = (): number => Number(process.hrtime.bigint() / 1_000_000n)
