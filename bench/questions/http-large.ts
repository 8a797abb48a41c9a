import { overHttp } from '../load/transports.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { race } from '../measure/race.js'
import { bareFastify, patchbay, sdk1, sdk2, sdk2Session } from '../servers/catalogue.js'
import type { Question } from '../measure/goal.js'

/** Measures what a call over HTTP costs that carries 100 KiB there and back. */
export const httpLarge: Question = async setting => [
  ...await race({
    what: 'HTTP tools/call 100 KiB, 2026-07-28',
    goal: '≥ 0.85 of bare Fastify',
    limit: bareFastify,
    ours: patchbay,
    peers: [sdk2],
    over: server => overHttp(server, { era: MODERN, ask: echo(100 * 1024) })
  }, setting),
  ...await race({
    what: 'HTTP tools/call 100 KiB, legacy session',
    goal: '≥ 0.85 of bare Fastify',
    limit: bareFastify,
    ours: patchbay,
    peers: [sdk2Session, sdk1],
    over: server => overHttp(server, { era: LEGACY, ask: echo(100 * 1024) })
  }, setting)
]
