import type { Server } from '../servers/process.js'

/** How the questions are asked. */
export interface Setting {
  rounds: number
  /** Whether the peers are there. */
  peers: boolean
  say: (line: string) => void
  /** Tells of something that broke; the run goes on without it and fails in the end. */
  complain: (line: string) => void
}

/** One who is measured, and a way to do so once. */
export interface Contestant { server: Server, sample: () => Promise<number> }

/** Measures everybody once in each round, one after the other, beginning with another one each time. A peer that fails is left out. */
export async function inRounds (contestants: Contestant[], count: number, { complain, say }: Setting): Promise<Map<Server, number[]>> {
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
