import { parseArgs } from 'node:util'
import { amplification } from './amplification.js'
import { busy } from './busy.js'
import { cuts } from './cuts.js'
import { cutsNodes } from './cuts-nodes.js'
import { cleanUp } from './gateway.js'
import { halfOpen } from './half-open.js'
import { lossy } from './lossy.js'
import { nodes } from './nodes/all.js'
import type { Scenario } from '../support/report.js'
import { rolling } from './rolling.js'
import { silence } from './silence.js'
import { starts } from './starts.js'
import { storm } from './storm.js'
import { disk, kill } from './tests.js'
import { upstreams } from './upstreams.js'
import { vanish } from './vanish.js'

// npm run chaos [-- NAME... | -- nodes [NAME...]] [-- --OPTION N...]: real gateways that are harmed, over loopback
// only.
const single: Record<string, Scenario> = {
  amplification,
  vanish,
  cuts,
  'cuts-nodes': cutsNodes,
  busy,
  starts,
  storm,
  silence,
  'half-open': halfOpen,
  lossy,
  upstreams,
  rolling,
  kill,
  disk
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void cleanUp().then(() => process.exit(130))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
} finally {
  await cleanUp()
}

async function main (argv: string[]): Promise<boolean> {
  const known = [...Object.values(single), ...Object.values(nodes)].flatMap(({ defaults }) => Object.keys(defaults))
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: Object.fromEntries(known.map(name => [name, { type: 'string' as const }]))
  })
  let kept = true
  for (const { defaults, run } of chosen(positionals)) {
    const report = await run({ ...defaults, ...numbers(values as Record<string, string>, Object.keys(defaults)) })
    console.log(String(report))
    kept &&= report.broken.length === 0
  }
  return kept
}

/** The scenarios of those names; names after `nodes` are of its own. */
function chosen (names: string[]): Scenario[] {
  if (names.length === 0) return [...Object.values(single), ...Object.values(nodes)]
  const [from, wanted] = names[0] === 'nodes' ? [nodes, names.slice(1)] : [single, names]
  const unknown = wanted.find(name => !Object.hasOwn(from, name))
  if (unknown !== undefined) {
    throw new Error(
      `there is no ${unknown}; there are ${[...Object.keys(from), ...(from === single ? ['nodes'] : [])].join(', ')}`
    )
  }
  return wanted.length === 0 ? Object.values(nodes) : wanted.map(name => from[name] as Scenario)
}

function numbers (values: Record<string, string>, names: string[]): Record<string, number> {
  const given = names.filter(name => values[name] !== undefined).map(name => [name, Number(values[name])] as const)
  const wrong = given.find(([, value]) => !(value > 0))
  if (wrong !== undefined) throw new Error(`--${wrong[0]} must be a number above 0`)
  return Object.fromEntries(given)
}
