import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { openers, type Standing } from './clients.js'
import { Gateway } from './gateway.js'
import type { Line } from './line.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

/**
 * An event loop that is blocked for longer than several heartbeats: no client is cut off, and all are served
 * afterwards.
 */
export const busy = scenario(
  { clients: 100, block: 5_000, heartbeat: 1_000, times: 3 },
  async ({ clients, block, heartbeat, times }) => {
    const report = new Report(
      `busy: ${clients} WebSockets and ${clients} streams, pinged every ${heartbeat} ms, while the event loop is blocked for ${block} ms`
    )
    const gateway = await Gateway.start({ env: { PATCHBAY_LIMITS: `heartbeat=${heartbeat},keepAlive=${heartbeat}` } })
    const sockets = await Promise.all(Array.from({ length: clients }, async () => await socket(gateway.port)))
    const streams = await Promise.all(
      Array.from({ length: clients }, async () => await openers['stream of a session'](standing(gateway.port)))
    )
    for (let time = 1; time <= times; time++) {
      // Anywhere between two pings.
      await sleep(heartbeat * (1 + Math.random()))
      const begun = performance.now()
      await Promise.all([
        gateway.tool('chaos_block', { ms: block }),
        gateway.tool('calculate', { operation: 'add', a: 1, b: 1 })
      ])
      const blocked = performance.now() - begun
      await sleep(2 * heartbeat)
      const open = {
        sockets: sockets.filter(socket => socket.readyState === WebSocket.OPEN).length,
        streams: streams.filter(line => !line.closed).length
      }
      const answered = await pings(sockets)
      report.row({
        block: time,
        'blocked ms': blocked,
        'WebSockets open': open.sockets,
        'streams open': open.streams,
        answered
      })
      report.promise(
        open.sockets === clients && open.streams === clients,
        `nobody is cut off: of ${clients} each ${open.sockets} WebSockets and ${open.streams} streams are left`
      )
      report.promise(answered === clients, `all ${clients} are answered afterwards, not ${answered}`)
    }
    await end(sockets, streams)
    report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
    await gateway.end()
    return report
  }
)

const standing = (port: number): Standing => ({ port })

async function socket (port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`)
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}

/** How many are answered. */
async function pings (sockets: WebSocket[]): Promise<number> {
  const answers = await Promise.all(sockets.map(async socket => {
    if (socket.readyState !== WebSocket.OPEN) return 0
    socket.send('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    return await Promise.race([once(socket, 'message').then(() => 1), sleep(5_000, 0, { ref: false })])
  }))
  return answers.reduce((sum, one) => sum + one, 0)
}

async function end (sockets: WebSocket[], streams: Line[]): Promise<void> {
  for (const socket of sockets) socket.terminate()
  for (const line of streams) line.reset()
  await sleep(50)
}
