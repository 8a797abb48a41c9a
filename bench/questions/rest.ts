import { overHttp } from '../load/transports.js'
import { echo, MODERN } from '../load/messages.js'
import type { Finding, Question } from '../measure/goal.js'
import { race, type Race } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { bareFastify, loggingFastify, patchbay } from '../servers/catalogue.js'
import type { Server } from '../servers/process.js'

/** Measures what a call of a tool as plain HTTP costs, with 32 connections. */
export const rest: Question = async setting => [
  ...await besides(bareFastify, { what: 'plain HTTP, POST /api/tools/echo', goal: '≥ 0.85 of bare Fastify' }, setting),
  ...await besides(loggingFastify, { what: 'the same, of a Fastify that logs requests' }, setting)
]

const besides = async (limit: Server, row: Pick<Race, 'what' | 'goal'>, setting: Setting): Promise<Finding[]> =>
  await race({
    ...row,
    limit,
    ours: { ...patchbay, env: { PATCHBAY_REST: 'true' } },
    over: server => overHttp(server, { era: MODERN, ask: echo(32), path: '/api/tools', plain: true })
  }, setting)
