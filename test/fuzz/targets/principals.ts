import { censusOf, type Plugin } from '../gateway.js'
import { Pair } from '../principals/pair.js'
import { World } from '../principals/world.js'
import type { Case } from '../case.js'
import { PROBE } from '../conversation.js'
import type { Target } from '../target.js'

/**
 * HTTP, HTTP+SSE and WebSocket with API keys, and two callers at the same time who must not learn anything of each
 * other.
 */
export async function openPrincipals (plugins: Plugin[] = []): Promise<Target> {
  const world = await World.open(plugins)
  const probe: Case = {
    target: 'principals',
    opening: '2025-11-25',
    steps: [{ from: { who: 'ada', line: 'message' }, bytes: Buffer.from(PROBE) }],
    answers: [],
    burst: false,
    cut: 0
  }
  return {
    run: async input => await new Pair(world, input).run(),
    probe: async () => (await new Pair(world, probe).run()).faults.length === 0,
    takeFaults: () => world.takeFaults(),
    census: async () => {
      world.hangUp()
      return await censusOf(world.app)
    },
    close: async () => await world.close()
  }
}
