import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LEGACY, MODERN, opening, type Era } from '../load/messages.js'
import { StdioWire } from '../load/stdio-wire.js'
import { ask } from '../load/wire.js'
import type { Finding } from '../measure/goal.js'
import { cpuTime } from '../measure/process.js'
import { inRounds, present, type Contestant, type Setting } from '../measure/rounds.js'
import { median, ratioOf, short } from '../measure/statistics.js'
import { bareStdio, fastmcpStdio, patchbayAlone, patchbayStdio, sdk1Stdio, sdk2Stdio } from '../servers/catalogue.js'
import { ServerProcess, type Environment, type Server } from '../servers/process.js'
import type { Question } from './question.js'

type Figures = Omit<Finding, 'what' | 'goal'>

const CERTIFICATES = 'NODE_EXTRA_CA_CERTS'

/** How much CPU time passes from the launch of the stdio command to its first answer? */
export const coldStart: Question = async setting => {
  const below = setting.peers ? ', and below SDK v1 and SDK v2' : ''
  const { alone, plugin } = await launches({}, setting)
  const findings = [{ ...alone, what: 'cold start, stdio', goal: `≤ 3.0 × a bare splitter${below}` }, { ...plugin, what: 'cold start, stdio, with a plugin', peers: [] }]
  if (process.env[CERTIFICATES] === undefined) return findings
  // Where it is set, Node.js reads all these certificates before it does anything else, and everybody looks more alike than they are.
  const clean = await launches({ [CERTIFICATES]: undefined }, setting)
  return [...findings, { ...clean.alone, what: `cold start, stdio, without ${CERTIFICATES}` }]
}

async function launches (env: Environment, setting: Setting): Promise<{ alone: Figures, plugin: Figures }> {
  setting.say(`cold start, stdio${Object.keys(env).map(name => `, without ${name}`).join('')}`)
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const starter = (era: Era) => (server: Server, index: number): Contestant => {
    const data = join(folder, `${era}-${index}`)
    mkdirSync(data)
    return { server, sample: async () => await launch(server, era, data, env) }
  }
  const modern = [bareStdio, patchbayAlone, patchbayStdio, sdk2Stdio].map(starter(MODERN))
  const legacy = [sdk1Stdio, fastmcpStdio].map(starter(LEGACY))
  try {
    return compare(await inRounds(present([...modern, ...legacy], setting), 2 * setting.rounds, setting))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function launch (server: Server, era: Era, data: string, env: Environment): Promise<number> {
  const running = ServerProcess.launch(server, data, env)
  try {
    await ask(new StdioWire(running.child as ConstructorParameters<typeof StdioWire>[0]), opening(era))
    return cpuTime(running.pid)
  } finally {
    await running.stop({ keep: true })
  }
}

function compare (times: Map<Server, number[]>): { alone: Figures, plugin: Figures } {
  const base = times.get(bareStdio) ?? []
  const limit = `${short(median(base))} ms`
  const against = (server: Server) => ratioOf(times.get(server) ?? [], base)
  const peers = [sdk2Stdio, sdk1Stdio, fastmcpStdio].filter(server => times.has(server)).map(server => ({ name: server.name, figure: against(server) }))
  return { alone: { ours: against(patchbayAlone), limit, peers }, plugin: { ours: against(patchbayStdio), limit, peers } }
}
