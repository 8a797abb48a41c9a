/** A delay that doubles each time, up to the longest: `first` for the first time, which is 0. */
export const growingDelay = (first: number, longest: number, times: number): number => Math.min(longest, first * 2 ** times)
