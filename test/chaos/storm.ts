import { setTimeout as sleep } from 'node:timers/promises'
import { openers, type Standing } from './clients.js'
import { Gateway } from './gateway.js'
import type { Line } from './line.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

const AT_ONCE = 100
const BACK = 60_000
const AGAIN = 50

/**
 * All clients return at once after the gateway was killed: all are back soon, with their sessions, and each gets every
 * message once.
 */
export const storm = scenario({ clients: 2_000 }, async ({ clients }) => {
  const report = new Report(`storm: ${clients} clients come back at once after a kill`)
  const gateway = await Gateway.start({ env: { PATCHBAY_LIMITS: `maxSessions=${clients + 1}` } })
  const crowd = Array.from(
    { length: clients },
    (_, index) => new Returning(gateway.port, index % 3 === 0 ? 'WebSocket' : 'stream of a session')
  )
  for (let first = 0; first < clients; first += AT_ONCE) {
    await Promise.all(crowd.slice(first, first + AT_ONCE).map(async client => await client.connect()))
  }
  const sessions = crowd.filter(({ kind }) => kind !== 'WebSocket').length

  await gateway.end('SIGKILL')
  // They begin to connect before the gateway runs.
  const returning = Promise.all(crowd.map(async client => await client.comeBack()))
  const started = await gateway.start()
  const begun = performance.now()
  await Promise.race([returning, sleep(BACK, undefined, { ref: false })])
  const seconds = (performance.now() - begun) / 1000
  const back = crowd.filter(({ connected }) => connected).length
  const state = await gateway.state()
  await gateway.tool('chaos_tell', { text: 'after the storm' })
  await waitForMessage(crowd)
  const received = crowd.map(({ line }) => (line?.received.split('after the storm').length ?? 1) - 1)

  report.row({
    clients,
    back,
    seconds,
    'start ms': started,
    'attempts each': crowd.reduce((sum, { attempts }) => sum + attempts, 0) / clients,
    peers: state.peers,
    sessions: state.sessions,
    'heard once': received.filter(times => times === 1).length
  })
  report.promise(back === clients, `all ${clients} are back within ${BACK / 1000} s, not ${back}`)
  report.promise(
    crowd.every(({ refused }) => refused.length === 0),
    `nobody is refused: ${crowd.flatMap(({ refused }) => refused)[0]}`
  )
  report.promise(
    state.sessions === sessions && state.peers === clients,
    `each has one session or socket: ${state.sessions} sessions for ${sessions}, ${state.peers} peers for ${clients}`
  )
  report.promise(received.every(times => times === 1), 'each hears once what is told afterwards')
  report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
  for (const client of crowd) client.line?.reset()
  await gateway.end()
  return report
})

/** A client that reconnects until it is accepted. */
class Returning {
  readonly kind: 'WebSocket' | 'stream of a session'
  readonly refused: string[] = []
  line: Line | undefined
  attempts = 0
  readonly #client: Standing

  constructor (port: number, kind: 'WebSocket' | 'stream of a session') {
    this.kind = kind
    this.#client = { port }
  }

  get connected (): boolean {
    return this.line?.closed === false
  }

  async connect (): Promise<void> {
    this.line = await openers[this.kind](this.#client)
  }

  async comeBack (): Promise<void> {
    for (;;) {
      this.attempts++
      try {
        return await this.connect()
      } catch (error) {
        const { message } = error as Error
        if (message.startsWith('HTTP/1.1') && !/ 503 /.test(message)) this.refused.push(message)
        await sleep(AGAIN)
      }
    }
  }
}

/** Settles when every client has received the message, or the time is up. */
async function waitForMessage (crowd: Returning[]): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await sleep(20)) {
    if (crowd.every(({ line }) => line?.received.includes('after the storm'))) break
  }
  await sleep(200)
}
