import { overHttp } from '../load/doors.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { race } from '../measure/race.js'
import { bareFastify, fastifyMcp, fastmcp, patchbay, sdk1, sdk2, sdk2Session } from '../servers/catalogue.js'
import type { Question } from './question.js'

/** What does a small call over HTTP cost, with 32 connections? */
export const httpCall: Question = async setting => {
  const modern = { era: MODERN, ask: echo(32) } as const
  const legacy = { era: LEGACY, ask: echo(32) } as const
  return [
    await race({
      what: 'HTTP tools/call, 2026-07-28',
      goal: '≥ 0.85 of bare Fastify',
      limit: overHttp(bareFastify, modern),
      ours: overHttp(patchbay, modern),
      peers: [overHttp(sdk2, modern)]
    }, setting),
    await race({
      what: 'HTTP tools/call, legacy session',
      goal: '≥ 0.80 of bare Fastify',
      limit: overHttp(bareFastify, legacy),
      ours: overHttp(patchbay, legacy),
      peers: [sdk2Session, sdk1, fastifyMcp, fastmcp].map(server => overHttp(server, legacy))
    }, setting)
  ]
}
