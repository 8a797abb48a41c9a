import { setTimeout as sleep } from 'node:timers/promises'
import { build, tool, type Options } from '../../app.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { echo, listTools, MODERN, type Ask } from '../load/messages.js'
import { overHttp } from '../load/transports.js'
import type { Finding, Question } from '../measure/goal.js'
import { rateOf, warmUp } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { median, pairedRatioOf, short, spreadOf } from '../measure/statistics.js'
import { patchbay } from '../servers/catalogue.js'
import { ServerProcess } from '../servers/process.js'

const MANY = 5_000
const VIEWS: Options['views'] = {
  whole: {},
  scoped: { exclude: ['nothing'], scopes: ['mcp'] },
  short: { names: 'short' }
}
const ENV = { BENCH_TOOLS: String(MANY), PATCHBAY_PAGE_SIZE: '100', PATCHBAY_VIEWS: JSON.stringify(VIEWS) }
/** How many times a tool changes for one sample. */
const CHANGES = 50

/** Measures what a call, a page and a change cost with views, as multiples of what they cost without one. */
export const views: Question = async setting => [
  ...await overPaths(`a call with ${MANY.toLocaleString('en-US')} tools`, echo(32), 32, '≥ 0.99 of /mcp', setting),
  ...await overPaths(`a page of ${MANY.toLocaleString('en-US')} tools`, listTools(100), 4, '≥ 0.99 of /mcp', setting),
  ...await changes(setting)
]

/** How often each view is compared with /mcp in one round, and how much CPU time one sample of it takes, in ms. */
const PAIRS = 6
const SHORT = { settle: 60, window: 150 }

/**
 * Asks one process at /mcp and at the URL of a view, one right after the other, again and again: two processes differ
 * by more than what is looked for, and so do two moments that lie apart.
 */
async function overPaths (
  what: string,
  ask: Ask,
  connections: number,
  goal: string,
  setting: Setting
): Promise<Finding[]> {
  setting.say(what)
  const paths = ['/mcp', ...Object.keys(VIEWS).map(name => `/mcp/${name}`)]
  const openOf = (path: string) => overHttp(patchbay, { era: MODERN, ask, connections, path }).open
  const [whole = '', ...others] = paths
  const pairs = new Map(others.map(path => [path, { own: [] as number[], base: [] as number[] }]))
  const running = await ServerProcess.listen(patchbay, ENV)
  const sample = async (path: string): Promise<number> => {
    const rate = await rateOf(running, openOf(path), undefined, SHORT)
    await sleep(10)
    return rate
  }
  try {
    for (const path of paths) await warmUp(running, openOf(path))
    for (let round = 0; round < setting.rounds; round++) {
      setting.say(`  round ${round + 1} of ${setting.rounds}`)
      for (let pair = 0; pair < PAIRS; pair++) {
        for (const [path, { own, base }] of pairs) {
          // Each comes first in half of the pairs.
          if (pair % 2 === 0) base.push(await sample(whole))
          own.push(await sample(path))
          if (pair % 2 === 1) base.push(await sample(whole))
        }
      }
    }
  } finally {
    await running.stop()
  }
  return [...pairs].map(([path, { own, base }]) => ({
    what: `views, ${what}, ${path}`,
    goal,
    ours: pairedRatioOf(own, base),
    limit: `${short(median(base))}/s at /mcp`,
    peers: []
  }))
}

/** The CPU time in which one of many tools changes, in a process with no views and with more and more. */
async function changes ({ rounds, say }: Setting): Promise<Finding[]> {
  const settings: Array<[string, Options['views']]> = [
    ['no view', {}],
    ['one view', { a: {} }],
    ['ten views', Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`v${at}`, {}]))],
    ['one view with short names', { a: { names: 'short' } }]
  ]
  const samples = new Map(settings.map(([name]) => [name, [] as number[]]))
  say('views, a change')
  for (let round = 0; round < rounds; round++) {
    for (const [name, views] of settings) samples.get(name)?.push(await changeTime(views))
  }
  const [[, base = []] = [], ...others] = samples
  return others.map(([name, times]) => ({
    what: `views, one of ${MANY.toLocaleString('en-US')} tools changes, ${name}, ms`,
    ours: spreadOf(times),
    limit: `${short(median(base))} ms without`,
    peers: []
  }))
}

async function changeTime (views: Options['views']): Promise<number> {
  const app = await build({ tools: false, http: false, ephemeral: true, views }, { logger: false })
  await app.ready()
  const items = Array.from({ length: MANY }, (_, at) => toolOf(at, 0))
  app.mcp.tools.relay([], items)
  const from = process.cpuUsage()
  for (let change = 1; change <= CHANGES; change++) {
    const at = (change * 7) % MANY
    const [before, after] = [items[at] as Tool, toolOf(at, change)]
    items[at] = after
    app.mcp.tools.relay([before], [after])
  }
  const { user, system } = process.cpuUsage(from)
  await app.close()
  return (user + system) / 1_000 / CHANGES
}

const base = tool({ name: 'base', description: '', run: () => '' }) as Tool

/** A tool of a server, of which nothing is compiled anew. */
function toolOf (at: number, version: number): Tool {
  const ownName = `lookup_${at}`
  const name = `catalogue__${ownName}`
  const listed = { ...base.listed, name, description: `Version ${version}` }
  return { ...base, name, ownName, upstream: 'catalogue', scopeNames: [name], listed }
}
