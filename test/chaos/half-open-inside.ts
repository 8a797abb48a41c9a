import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openers } from './clients.js'
import { cleanUp, Gateway } from './gateway.js'
import { Report } from '../support/report.js'

// Runs in a network of its own, where it may break things. Some clients have an address that is going to be lost,
// others do not.
const [clients = 10, heartbeat = 1_000, patience = 30_000] = process.argv.slice(2).map(Number)
const LOST = '127.0.0.2'
const report = new Report('inside')

try {
  ip('link', 'set', 'lo', 'up')
  for (const kind of Object.keys(openers) as Array<keyof typeof openers>) {
    await lose(kind, false)
    if (kind !== 'WebSocket') await lose(kind, true)
  }
} catch (error) {
  report.promise(false, String(error))
} finally {
  await cleanUp()
}
process.stdout.write(JSON.stringify(report))

/** Clients of one kind are lost, while nothing or much is sent to them. */
async function lose (kind: keyof typeof openers, talking: boolean): Promise<void> {
  const env = {
    PATCHBAY_LIMITS: `heartbeat=${heartbeat},keepAlive=${heartbeat},writeDeadline=${heartbeat},maxQueue=65536`
  }
  const gateway = await Gateway.start({ env })
  const before = (await gateway.state()).connections
  const lines = await Promise.all(
    Array.from({ length: clients }, async () => await openers[kind]({ port: gateway.port, from: LOST }))
  )
  const open = (await gateway.until(({ connections }) => connections >= before + clients, 5_000)).connections
  cut()
  const begun = performance.now()
  let left = open
  while (left >= before + 1 && performance.now() - begun < patience) {
    if (talking) {
      await gateway.tool(
        kind === 'subscriptions/listen' ? 'chaos_change' : 'chaos_tell',
        kind === 'subscriptions/listen' ? {} : { text: 'x'.repeat(60_000), times: 5 }
      )
    }
    await sleep(100)
    left = (await gateway.state()).connections
  }
  const found = Math.min(clients, open - left)
  report.row({
    kind,
    told: talking ? 'much' : 'nothing',
    clients,
    found,
    'after ms': performance.now() - begun,
    heartbeat
  })
  mend()
  for (const line of lines) line.socket.destroy()
  if (kind === 'WebSocket' || (talking && kind !== 'subscriptions/listen')) {
    report.promise(found === clients, `${kind}: all ${clients} that are lost are found, not ${found}`)
  }
  await gateway.end()
}

/** From now on nothing reaches that address, and no error is reported to the sender. */
function cut (): void {
  ip('route', 'add', 'blackhole', `${LOST}/32`, 'table', 'local')
  ip('route', 'del', 'local', '127.0.0.0/8', 'dev', 'lo', 'table', 'local')
}

function mend (): void {
  ip('route', 'add', 'local', '127.0.0.0/8', 'dev', 'lo', 'table', 'local')
  ip('route', 'del', 'blackhole', `${LOST}/32`, 'table', 'local')
}

function ip (...args: string[]): void {
  execFileSync('ip', args)
}
