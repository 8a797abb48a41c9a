import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startNodes, type ThreeNodes } from '../support/nodes/three-nodes.js'
import { owner } from '../support/owner.js'
import { Report } from '../support/report.js'
import { temporary } from './gateway.js'
import { LegacyClient } from './rolling/legacy-client.js'
import { callModern } from './rolling/modern-client.js'
import { callOverSocket } from './rolling/socket-client.js'
import { Tally } from './rolling/tally.js'
import { scenario } from './scenario.js'

const PLUGIN = fileURLToPath(new URL('rolling/plugin.js', import.meta.url))
const SETTLING = 3_000

/**
 * Three nodes behind nginx are restarted one after the other while clients call them. `drain` is the option drainDelay;
 * `probe` is how often /readyz is requested, in milliseconds; `away` is the fail_timeout of nginx in seconds, 10 in
 * deploy/nginx-nodes.conf.
 */
export const rolling = scenario(
  { restarts: 3, modern: 16, sessions: 6, sockets: 3, drain: 5_000, probe: 1_000, away: 10 },
  async ({ restarts, modern, sessions, sockets, drain, probe, away }) => {
    const report = new Report(
      `rolling: ${restarts} restarts of three nodes, one after the other, drainDelay ${drain} ms, fail_timeout ${away} s, /readyz each ${probe} ms`
    )
    const all = owner()
    try {
      const file = join(temporary(), 'runs')
      await writeFile(file, '')
      const three = await startNodes(all, {
        plugins: [PLUGIN],
        env: { ROLLING_FILE: file, PATCHBAY_DRAIN_DELAY: String(drain) },
        change: site => site.replaceAll('fail_timeout=10s', `fail_timeout=${away}s`)
      })
      const crowd = await gather(three.url, { modern, sessions, sockets })
      const probing = new AbortController()
      const probes = requestReadiness(three.url, probe, probing.signal)
      for (let index = 0; index < restarts; index++) report.row(await restart(three, index % three.nodes.length, away))
      probing.abort()
      await Promise.all([probes, crowd.stop()])
      judge(report, crowd, (await readFile(file, 'utf8')).split('\n').slice(0, -1))
    } finally {
      await all.end()
    }
    return report
  }
)

interface Crowd {
  modern: Tally[]
  legacy: LegacyClient[]
  sockets: Tally[]
  codes: number[]
  stop: () => Promise<void>
}

async function gather (url: string, counts: { modern: number, sessions: number, sockets: number }): Promise<Crowd> {
  const ending = new AbortController()
  const tallies = (name: string, count: number): Tally[] =>
    Array.from({ length: count }, (_, index) => new Tally(`${name}${index}`))
  const [modern, sockets, codes] = [tallies('modern', counts.modern), tallies('socket', counts.sockets), [] as number[]]
  const legacy = await Promise.all(
    Array.from({ length: counts.sessions }, async (_, index) => await LegacyClient.open(url, `legacy${index}`))
  )
  const listening = legacy.map(async client => await client.listen())
  const calling = [
    ...modern.map(async tally => await callModern(url, tally, ending.signal)),
    ...legacy.map(async client => await client.call(ending.signal)),
    ...sockets.map(async tally => { codes.push(...await callOverSocket(url, tally, ending.signal)) })
  ]
  const stop = async (): Promise<void> => {
    ending.abort()
    await Promise.all(calling)
    for (
      const end = Date.now() + SETTLING;
      Date.now() < end && legacy.some(({ notified, tally }) => notified.length < tally.answered.length);
    ) { await sleep(20) }
    for (const client of legacy) await client.leave()
    await Promise.all(listening)
  }
  return { modern, legacy, sockets, codes, stop }
}

/** Requests /readyz through nginx again and again, as a monitor does. */
async function requestReadiness (url: string, interval: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await (await fetch(`${url}/readyz`)).arrayBuffer()
    await sleep(interval, undefined, { signal }).catch(() => {})
  }
}

/** Restarts a node, and waits until nginx sends it requests again. */
async function restart ({ nodes, nginx }: ThreeNodes, index: number, away: number): Promise<Record<string, number>> {
  const node = nodes[index] ?? nodes[0]
  const address = `127.0.0.1:${node?.port}`
  const begun = performance.now()
  const code = await node?.end('SIGTERM')
  const ended = performance.now()
  await node?.start()
  const started = performance.now()
  const before = (await nginx.served()).length
  await sleep(away * 1_000)
  for (
    let served = await nginx.served();
    !served.slice(before).some(({ nodes }) => nodes.at(-1) === address);
    served = await nginx.served()
  ) { await sleep(50) }
  return {
    node: index + 1,
    'exit code': code ?? -1,
    'ms to its end': ended - begun,
    'ms to its start': started - ended,
    'ms until it is used': performance.now() - started
  }
}

function judge (report: Report, { modern, legacy, sockets, codes }: Crowd, runs: string[]): void {
  const count = new Map<string, number>()
  for (const token of runs) count.set(token, (count.get(token) ?? 0) + 1)
  const twice = [...count].filter(([, times]) => times > 1)
  const failed = (tallies: Tally[]) => tallies.flatMap(({ failed }) => [...failed])
  const answered = (tallies: Tally[]) => tallies.reduce((sum, { answered }) => sum + answered.length, 0)
  const calls = { modern, legacy: legacy.map(({ tally }) => tally), WebSocket: sockets }
  for (const [kind, tallies] of Object.entries(calls)) {
    report.note(
      `${kind}: ${answered(tallies)} calls answered, ${failed(tallies).length} not: ${failed(tallies).slice(0, 3).join('; ')}`
    )
  }
  const lost = failed(calls.legacy).filter(([token]) => count.has(token))
  const wanted = legacy.flatMap(({ tally }) => tally.answered)
  const notified = legacy.flatMap(({ notified }) => notified)
  const heard = new Set(notified)
  const missing = wanted.filter(token => !heard.has(token))
  report.note(
    `streams resumed ${legacy.reduce((sum, { resumed }) => sum + resumed, 0)} times; sockets closed with ${codes.join(', ')}`
  )
  report.promise(
    failed(modern).length === 0,
    `no modern call fails, not ${failed(modern).length}: ${failed(modern)[0]?.join(' ')}`
  )
  report.promise(twice.length === 0, `no call is run twice, not ${twice.length}: ${twice[0]?.[0]}`)
  report.promise(lost.length === 0, `no result of a session is lost, not ${lost.length}: ${lost[0]?.join(' ')}`)
  report.promise(
    failed(calls.legacy).length === 0,
    `no call of a session fails, not ${failed(calls.legacy).length}: ${failed(calls.legacy)[0]?.join(' ')}`
  )
  report.promise(
    missing.length === 0 && heard.size === notified.length,
    `each notification comes once: ${missing.length} are missing, ${notified.length - heard.size} came twice`
  )
  report.promise(codes.every(code => code === 1001), `sockets are closed with 1001, not ${codes.join(', ')}`)
}
