import { fromCheckout } from '../servers/catalogue.js'
import type { Server } from '../servers/process.js'
import type { Finding } from './goal.js'
import { median, ratioOf, short } from './statistics.js'

/** How the questions are asked. */
export interface Setting {
  rounds: number
  /** True when the peers are installed. */
  peers: boolean
  /** Another built checkout of Patchbay, measured in the same rounds. */
  against?: string
  say: (line: string) => void
  /** Tells of something that broke; the run goes on without it and fails in the end. */
  complain: (line: string) => void
}

/** One who is measured, and a way to do so once. */
export interface Contestant { server: Server, sample: () => Promise<number> }

/**
 * Measures everybody once in each round, one after the other, beginning with another one each time. A peer that fails
 * is left out.
 */
export async function inRounds (
  contestants: Contestant[],
  count: number,
  { complain, say }: Setting
): Promise<Map<Server, number[]>> {
  const samples = new Map(contestants.map(({ server }) => [server, [] as number[]]))
  for (let round = 0; round < count; round++) {
    say(`  round ${round + 1} of ${count}`)
    for (let turn = 0; turn < contestants.length; turn++) {
      const { server, sample } = contestants[(round + turn) % contestants.length] as Contestant
      const own = samples.get(server)
      try {
        own?.push(await sample())
      } catch (error) {
        if (server.peer !== true) throw error
        samples.delete(server)
        complain(`${server.name} failed: ${(error as Error).message}`)
      }
    }
  }
  return samples
}

/** A goal may only be judged by those who were there. */
export function present<T extends { server: Server }> (all: T[], { peers }: Setting): T[] {
  return all.filter(({ server }) => peers || server.peer !== true)
}

/** The server as another checkout builds it, when the run compares with one. */
export function otherBuilds (ours: Server, { against }: Setting): Server[] {
  return against === undefined ? [] : [fromCheckout(ours, against)]
}

/** A row with the ratio of this build to each other one, taken within each round. */
export function comparisons (
  what: string,
  samples: Map<Server, number[]>,
  ours: Server,
  others: Server[],
  unit: string
): Finding[] {
  return others.map(other => {
    const base = samples.get(other) ?? []
    return {
      what: `${what}, this / ${other.name}`,
      ours: ratioOf(samples.get(ours) ?? [], base),
      limit: `${short(median(base))}${unit}`,
      peers: []
    }
  })
}
