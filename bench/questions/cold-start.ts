import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LEGACY, MODERN, opening, type Era } from '../load/messages.js'
import { StdioWire } from '../load/stdio-wire.js'
import { ask } from '../load/wire.js'
import type { Finding, Question } from '../measure/goal.js'
import { cpuTime } from '../measure/process.js'
import { comparisons, inRounds, otherBuilds, present, type Contestant, type Setting } from '../measure/rounds.js'
import { median, ratioOf, short } from '../measure/statistics.js'
import { bareStdio, fastmcpStdio, patchbayAlone, patchbayStdio, sdk1Stdio, sdk2Stdio } from '../servers/catalogue.js'
import { ServerProcess, type Environment, type Server } from '../servers/process.js'

const CERTIFICATES = 'NODE_EXTRA_CA_CERTS'

/** How much CPU time passes from the launch of the stdio command to its first answer? */
export const coldStart: Question = async setting => {
  const below = setting.peers ? ', and below SDK v1 and SDK v2' : ''
  const times = await launches({}, setting)
  const findings = [
    { ...figures(times, patchbayAlone), what: 'cold start, stdio', goal: `≤ 3.0 × a bare splitter${below}` },
    ...comparisons(
      'cold start, stdio',
      times,
      patchbayAlone,
      [...times.keys()].filter(({ build }) => build !== undefined),
      ' ms'
    ),
    { ...figures(times, patchbayStdio), what: 'cold start, stdio, with a plugin', peers: [] }
  ]
  if (process.env[CERTIFICATES] === undefined) return findings
  // With this variable Node.js reads all certificates of the file before anything else, for every server: their ratios
  // come closer to 1.
  const clean = await launches({ [CERTIFICATES]: undefined }, setting)
  return [...findings, { ...figures(clean, patchbayAlone), what: `cold start, stdio, without ${CERTIFICATES}` }]
}

async function launches (env: Environment, setting: Setting): Promise<Map<Server, number[]>> {
  setting.say(`cold start, stdio${Object.keys(env).map(name => `, without ${name}`).join('')}`)
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const starter = (era: Era) => (server: Server, index: number): Contestant => {
    const data = join(folder, `${era}-${index}`)
    mkdirSync(data)
    return { server, sample: async () => await launch(server, era, data, env) }
  }
  const modern = [bareStdio, patchbayAlone, ...otherBuilds(patchbayAlone, setting), patchbayStdio, sdk2Stdio].map(
    starter(MODERN)
  )
  const legacy = [sdk1Stdio, fastmcpStdio].map(starter(LEGACY))
  try {
    return await inRounds(present([...modern, ...legacy], setting), 2 * setting.rounds, setting)
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

function figures (times: Map<Server, number[]>, ours: Server): Omit<Finding, 'what' | 'goal'> {
  const base = times.get(bareStdio) ?? []
  const ratio = (server: Server) => ratioOf(times.get(server) ?? [], base)
  const peers = [sdk2Stdio, sdk1Stdio, fastmcpStdio].filter(server => times.has(server))
  return {
    ours: ratio(ours),
    limit: `${short(median(base))} ms`,
    peers: peers.map(server => ({ name: server.name, figure: ratio(server) }))
  }
}
