import { overHttp } from '../load/transports.js'
import { echo, MODERN, type Ask } from '../load/messages.js'
import type { Question } from '../measure/goal.js'
import { race, whenServed } from '../measure/race.js'
import { bareFastify } from '../servers/catalogue.js'
import { ServerProcess } from '../servers/process.js'
import { bareProxy, echoApi, relayOver } from '../servers/relays.js'

const PLAIN = echo(32)
/** An API answers with the value alone. */
const OF_API: Ask = {
  ...echo(32, 'up__echo'),
  check: ({ structuredContent, isError }) => PLAIN.check({ ...Object(structuredContent) as object, isError })
}

/** Measures what a call of an operation of an HTTP API costs, with 32 connections. Counted is what the gateway uses. */
export const openapi: Question = async setting => {
  const upstream = await ServerProcess.listen(bareFastify)
  try {
    const limit = bareProxy(upstream.port)
    return await race({
      what: 'OpenAPI, tools/call of an operation, 2026-07-28',
      goal: '≥ 0.60 of a bare proxy',
      limit,
      ours: relayOver('http', { up: echoApi(upstream.port) }),
      over: server => whenServed(overHttp(server, { era: MODERN, ask: server === limit ? PLAIN : OF_API }))
    }, setting)
  } finally {
    await upstream.stop()
  }
}
