/** A test, or a program that runs without one: it ends the things that were started for it. */
export interface Owner { teardown: (end: () => unknown) => void }

/** An owner outside of tests; `end` ends what it owns, the newest first. */
export function owner (): Owner & { end: () => Promise<void> } {
  const ends: Array<() => unknown> = []
  return {
    teardown: end => { ends.unshift(end) },
    end: async () => { for (const end of ends.splice(0)) await end() }
  }
}
