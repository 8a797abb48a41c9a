import { overHttp } from '../load/doors.js'
import { echo, LEGACY, MODERN } from '../load/messages.js'
import { race } from '../measure/race.js'
import { bareFastify, patchbay, sdk1, sdk2, sdk2Session } from '../servers/catalogue.js'
import type { Question } from './question.js'

/** What does a call over HTTP cost that carries 100 KiB there and back? */
export const httpLarge: Question = async setting => {
  const modern = { era: MODERN, ask: echo(100 * 1024) } as const
  const legacy = { era: LEGACY, ask: echo(100 * 1024) } as const
  return [
    await race({
      what: 'HTTP tools/call 100 KiB, 2026-07-28',
      goal: '≥ 0.85 of bare Fastify',
      limit: overHttp(bareFastify, modern),
      ours: overHttp(patchbay, modern),
      peers: [overHttp(sdk2, modern)]
    }, setting),
    await race({
      what: 'HTTP tools/call 100 KiB, legacy session',
      goal: '≥ 0.85 of bare Fastify',
      limit: overHttp(bareFastify, legacy),
      ours: overHttp(patchbay, legacy),
      peers: [sdk2Session, sdk1].map(server => overHttp(server, legacy))
    }, setting)
  ]
}
