import { setTimeout as sleep } from 'node:timers/promises'
import { openers } from './clients.js'
import { Gateway } from './gateway.js'
import type { Line } from './line.js'
import { startProxy } from './proxy.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

/** How soon a message arrives; on a machine that is busy with other things it may take longer. */
const SOON = 1_000
const FOREVER = 600_000

/**
 * Idle streams through a proxy that cuts idle connections: keep-alives keep them open, and the proxy holds nothing
 * back.
 */
export const silence = scenario({ idle: 2_000, signs: 500, ms: 10_000 }, async ({ idle, signs, ms }) => {
  const report = new Report(
    `silence: ${ms} ms without a message, through a proxy that cuts after ${idle} ms of silence`
  )
  for (const [what, interval] of [['a sign of life every', signs], ['no sign of life for', FOREVER]] as const) {
    const env = { PATCHBAY_LIMITS: `keepAlive=${interval},heartbeat=${interval}` }
    const gateway = await Gateway.start({ env })
    const proxy = await startProxy(gateway.port, idle)
    // A WebSocket without a library answers no pings, so there is none here.
    for (const kind of ['stream of a session', 'subscriptions/listen', 'HTTP+SSE'] as const) {
      const line = await openers[kind]({ port: proxy.port })
      const lasted = await silent(line, interval === signs ? ms : Math.min(ms, 3 * idle))
      const delay = line.closed ? undefined : await deliveryTime(gateway, line, kind)
      report.row({
        proxy: proxy.name,
        kind,
        [what]: interval,
        'lasted ms': lasted,
        cut: line.closed ? 'yes' : 'no',
        'told after ms': delay ?? ''
      })
      if (interval === signs) report.promise(!line.closed, `${kind}: a sign of life every ${signs} ms keeps the stream`)
      else report.promise(line.closed, `${kind}: without one the proxy cuts it, else this shows nothing`)
      report.promise(delay === undefined || delay < SOON, `${kind}: what is told is not held back: ${delay} ms`)
      line.reset()
    }
    await proxy.stop()
    await gateway.end()
  }
  return report
})

/** How long the line stays open, at most so long. */
async function silent (line: Line, ms: number): Promise<number> {
  const begun = performance.now()
  while (!line.closed && performance.now() - begun < ms) await sleep(10)
  return performance.now() - begun
}

async function deliveryTime (gateway: Gateway, line: Line, kind: string): Promise<number> {
  const begun = performance.now()
  if (kind === 'stream of a session') await gateway.tool('chaos_tell', { text: 'a word' })
  else await gateway.tool('chaos_change')
  await line.until(kind === 'stream of a session' ? 'a word' : 'list_changed')
  return performance.now() - begun
}
