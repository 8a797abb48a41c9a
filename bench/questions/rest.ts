import { overHttp } from '../load/transports.js'
import { echo, MODERN } from '../load/messages.js'
import type { Question } from '../measure/goal.js'
import { race } from '../measure/race.js'
import { bareFastify, patchbay } from '../servers/catalogue.js'

/** Measures what a call of a tool as plain HTTP costs, with 32 connections. */
export const rest: Question = async setting => await race({
  what: 'plain HTTP, POST /api/tools/echo',
  goal: '≥ 0.85 of bare Fastify',
  limit: bareFastify,
  ours: { ...patchbay, env: { PATCHBAY_REST: 'true' } },
  peers: [],
  over: server => overHttp(server, { era: MODERN, ask: echo(32), path: '/api/tools', plain: true })
}, setting)
