import { parseArgs } from 'node:util'
import { disconnects } from './disconnects.js'
import { idleStreams } from './idle-streams.js'
import { idleWebsockets } from './idle-websockets.js'
import { killAll } from './gateway.js'
import { mixedCalls } from './mixed-calls.js'
import { nodeSessions } from './nodes/sessions.js'
import { nodes } from './nodes/calls.js'
import { observed } from './observed.js'
import type { Scenario } from '../support/report.js'
import { sigtermUnderLoad } from './sigterm-under-load.js'
import { slowReaders } from './slow-readers.js'
import { soak } from './soak.js'
import { isMeasurable } from './vitals.js'

// npm run load [-- NAME... [CALLS] --OPTION N...], npm run soak [-- --minutes N]: real gateways under load, over
// loopback only.
const scenarios: Record<string, Scenario> = {
  'idle-websockets': idleWebsockets,
  'idle-streams': idleStreams,
  'mixed-calls': mixedCalls,
  observed,
  'sigterm-under-load': sigtermUnderLoad,
  'slow-readers': slowReaders,
  disconnects,
  nodes,
  'node-sessions': nodeSessions,
  soak
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void killAll().then(() => process.exit(130))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
} finally {
  await killAll()
}

async function main (argv: string[]): Promise<boolean> {
  if (!isMeasurable) throw new Error('these programs look at processes through /proc, which is there on Linux only')
  const known = Object.values(scenarios).flatMap(({ defaults }) => Object.keys(defaults))
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: Object.fromEntries(known.map(name => [name, { type: 'string' as const }]))
  })
  const names = positionals.filter(word => !/^\d+$/.test(word))
  values['calls'] ??= positionals.find(word => !names.includes(word))
  const unknown = names.find(name => !Object.hasOwn(scenarios, name))
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${Object.keys(scenarios).join(', ')}`)
  let kept = true
  for (const name of names.length > 0 ? names : Object.keys(scenarios).filter(name => name !== 'soak')) {
    const { defaults, run } = scenarios[name] as Scenario
    const report = await run(
      { ...defaults, ...numbers(values as Record<string, string>, Object.keys(defaults)) },
      { say: line => console.error(line) }
    )
    console.log(String(report))
    kept &&= report.broken.length === 0
  }
  return kept
}

function numbers (values: Record<string, string>, names: string[]): Record<string, number> {
  const given = names.filter(name => values[name] !== undefined).map(name => [name, Number(values[name])] as const)
  const wrong = given.find(([, value]) => !(value > 0))
  if (wrong !== undefined) throw new Error(`--${wrong[0]} must be a number above 0`)
  return Object.fromEntries(given)
}
