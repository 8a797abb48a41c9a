import { echo, message, MODERN } from '../load/messages.js'
import { overHttp, overStdio } from '../load/transports.js'
import { WebSocketWire } from '../load/websocket-wire.js'
import { noListeners } from '../load/wire.js'
import type { Finding, Question } from '../measure/goal.js'
import { ratesOf, type Runner } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { median, ratioOf, short } from '../measure/statistics.js'
import { measuring, patchbay, patchbayBoth, withTraces } from '../servers/catalogue.js'
import { freePort, untilAccepted, type Server } from '../servers/process.js'
import { scrape } from './observability/scrape.js'

const HTTP = { era: MODERN, ask: echo(32) } as const
const PIPELINED = { ...HTTP, inFlight: 64 } as const

/**
 * Measures what metrics, traces and a watcher cost, as multiples of what the same gateway answers with all of them off.
 */
export const observability: Question = async setting => [
  ...(await overBoth('metrics', { http: '≥ 0.98 of all off' }, server => measuring(server, true), same, setting)),
  ...(await overBoth('traces, no-op SDK', {}, server => withTraces(server, 'no-op'), same, setting)),
  ...(await overBoth('traces, SDK of OpenTelemetry', {}, server => withTraces(server, 'real'), same, setting)),
  ...(await overBoth(
    'one watcher',
    { http: '≥ 0.98 of all off', stdio: '≥ 0.90 of all off' },
    server => server,
    withWatcher,
    setting
  )),
  ...(await scrape(setting))
]

interface Goals { http?: string, stdio?: string }
type Change = (server: Server) => Server

const same = (runner: Runner): Runner => runner

async function overBoth (
  what: string,
  goals: Goals,
  change: Change,
  wrap: (runner: Runner, port?: number) => Runner,
  setting: Setting
): Promise<Finding[]> {
  const [port, otherPort] = [await freePort(), await freePort()]
  const off = (server: Server): Server => measuring(server, false)
  const changed = (server: Server): Server => ({ ...change(off(server)), name: what })
  return [
    await compare(
      `${what}, HTTP`,
      goals.http,
      overHttp(off(patchbay), HTTP),
      wrap(overHttp(changed(patchbay), HTTP)),
      setting
    ),
    await compare(
      `${what}, stdio with 64 in flight`,
      goals.stdio,
      overStdio(off(patchbayBoth(port)), PIPELINED),
      wrap(overStdio(changed(patchbayBoth(otherPort)), PIPELINED), otherPort),
      setting
    )
  ]
}

async function compare (
  what: string,
  goal: string | undefined,
  base: Runner,
  changed: Runner,
  setting: Setting
): Promise<Finding> {
  setting.say(what)
  const rates = await ratesOf([base, changed], setting)
  const without = rates.get(base.server) ?? []
  return {
    what,
    ...(goal === undefined ? {} : { goal }),
    ours: ratioOf(rates.get(changed.server) ?? [], without),
    limit: `${short(median(without))}/s`,
    peers: []
  }
}

/** Runs it with a client that watches from the start to the end. */
function withWatcher (runner: Runner, port?: number): Runner {
  return {
    ...runner,
    start: async () => {
      const running = await runner.start()
      await untilAccepted(port ?? running.port)
      const wire = await WebSocketWire.open(port ?? running.port)
      const first = new Promise<string>(resolve => { wire.onAnswer = (_size, text) => resolve(text()) })
      wire.write(wire.frame(message(MODERN, 1, 'patchbay/watch')))
      if (!(await first).includes('notifications/patchbay/watch')) throw new Error(`nothing to watch: ${await first}`)
      wire.onAnswer = noListeners.onAnswer
      return running
    }
  }
}
