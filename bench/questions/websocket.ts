import { overWebSocket } from '../load/transports.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { onThisMachine, type Question } from '../measure/goal.js'
import { race } from '../measure/race.js'
import { bareWebSocket, patchbay, supergateway } from '../servers/catalogue.js'

const GOAL = onThisMachine({
  arm64: '≥ 2.0 × a plain @fastify/websocket echo',
  x64: '≥ 1.4 × a plain @fastify/websocket echo'
})

/** Measures what a call costs over 32 WebSockets with 8 calls in flight on each. */
export const websocket: Question = async setting => [
  ...await race({
    what: 'WebSocket tools/call, 2026-07-28',
    goal: GOAL,
    limit: bareWebSocket,
    ours: patchbay,
    over: server => overWebSocket(server, { era: MODERN, ask: echo(32) })
  }, setting),
  ...await race({
    what: 'WebSocket tools/call, legacy',
    goal: GOAL,
    limit: bareWebSocket,
    ours: patchbay,
    peers: [supergateway],
    over: server => overWebSocket(server, { era: LEGACY, ask: echo(32) })
  }, setting)
]
