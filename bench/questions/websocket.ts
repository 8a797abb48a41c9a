import { overWebSocket } from '../load/doors.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { race } from '../measure/race.js'
import { bareWebSocket, patchbay, supergateway } from '../servers/catalogue.js'
import type { Question } from './question.js'

/** What does a call cost over 32 WebSockets with 8 calls in flight on each? */
export const websocket: Question = async setting => {
  const modern = { era: MODERN, ask: echo(32) } as const
  const legacy = { era: LEGACY, ask: echo(32) } as const
  const goal = '≥ 2.0 × a plain @fastify/websocket echo'
  return [
    await race({ what: 'WebSocket tools/call, 2026-07-28', goal, limit: overWebSocket(bareWebSocket, modern), ours: overWebSocket(patchbay, modern) }, setting),
    await race({
      what: 'WebSocket tools/call, legacy',
      goal,
      limit: overWebSocket(bareWebSocket, legacy),
      ours: overWebSocket(patchbay, legacy),
      peers: [overWebSocket(supergateway, legacy)]
    }, setting)
  ]
}
