import { overStdio } from '../load/transports.js'
import { echo, LEGACY, MODERN, type Era } from '../load/messages.js'
import { race } from '../measure/race.js'
import type { Finding, Question } from '../measure/goal.js'
import type { Setting } from '../measure/rounds.js'
import { bareBatches, bareStdio, fastmcpStdio, patchbayStdio, sdk1Stdio, sdk2Stdio } from '../servers/catalogue.js'
import type { Server } from '../servers/process.js'

/** Measures what a call over standard input and output costs. */
export const stdio: Question = async setting => {
  const single = { inFlight: 1, bytes: 32, goal: '≥ 0.80 of the splitter', limit: bareStdio }
  const crowd = { inFlight: 64, bytes: 32, goal: '≥ 0.55 of the batching splitter', limit: bareBatches }
  const large = { inFlight: 8, bytes: 100 * 1024, limit: bareBatches }
  return [
    ...await ask('stdio, 1 in flight, 2026-07-28', { ...single, era: MODERN, peers: [sdk2Stdio] }, setting),
    ...await ask('stdio, 1 in flight, legacy', { ...single, era: LEGACY, peers: [sdk1Stdio, fastmcpStdio] }, setting),
    ...await ask('stdio, 64 in flight, 2026-07-28', { ...crowd, era: MODERN, peers: [sdk2Stdio] }, setting),
    ...await ask('stdio, 64 in flight, legacy', { ...crowd, era: LEGACY, peers: [sdk1Stdio, fastmcpStdio] }, setting),
    ...await ask('stdio, 8 × 100 KiB in flight, 2026-07-28', { ...large, era: MODERN, peers: [sdk2Stdio] }, setting)
  ]
}

interface Shape { era: Era, inFlight: number, bytes: number, goal?: string, limit: Server, peers: Server[] }

async function ask (
  what: string,
  { era, inFlight, bytes, limit, peers, ...goal }: Shape,
  setting: Setting
): Promise<Finding[]> {
  const shape = { era, inFlight, ask: echo(bytes) }
  return await race(
    { what, ...goal, limit, ours: patchbayStdio, peers, over: server => overStdio(server, shape) },
    setting
  )
}
