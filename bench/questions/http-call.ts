import { overHttp } from '../load/transports.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { onThisMachine, type Question } from '../measure/goal.js'
import { race } from '../measure/race.js'
import { bareFastify, fastifyMcp, fastmcp, patchbay, sdk1, sdk2, sdk2Session } from '../servers/catalogue.js'

/** Measures what a small call over HTTP costs, with 32 connections. */
export const httpCall: Question = async setting => [
  ...await race({
    what: 'HTTP tools/call, 2026-07-28',
    goal: onThisMachine({ arm64: '≥ 0.85 of bare Fastify', x64: '≥ 0.80 of bare Fastify' }),
    limit: bareFastify,
    ours: patchbay,
    peers: [sdk2],
    over: server => overHttp(server, { era: MODERN, ask: echo(32) })
  }, setting),
  ...await race({
    what: 'HTTP tools/call, legacy session',
    goal: onThisMachine({ arm64: '≥ 0.80 of bare Fastify', x64: '≥ 0.75 of bare Fastify' }),
    limit: bareFastify,
    ours: patchbay,
    peers: [sdk2Session, sdk1, fastifyMcp, fastmcp],
    over: server => overHttp(server, { era: LEGACY, ask: echo(32) })
  }, setting)
]
