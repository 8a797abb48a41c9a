import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stepAside } from './measure/cores.js'
import type { Finding, Question } from './measure/goal.js'
import { isMeasurable } from './measure/process.js'
import type { Setting } from './measure/rounds.js'
import { coldStart } from './questions/cold-start.js'
import { growth } from './questions/growth.js'
import { httpCall } from './questions/http-call.js'
import { httpLarge } from './questions/http-large.js'
import { idle } from './questions/idle.js'
import { initialize } from './questions/initialize.js'
import { nodes } from './questions/nodes.js'
import { observability } from './questions/observability.js'
import { openapi } from './questions/openapi.js'
import { relay } from './questions/relay.js'
import { rest } from './questions/rest.js'
import { rules } from './questions/rules.js'
import { search } from './questions/search.js'
import { stdio } from './questions/stdio.js'
import { tasks } from './questions/tasks.js'
import { toolsList } from './questions/tools-list.js'
import { views } from './questions/views.js'
import { websocket } from './questions/websocket.js'
import { summary, table } from './report.js'
import { machine, save, saveApart } from './save.js'
import { install } from './servers/packages.js'
import { stopAll } from './servers/process.js'

// npm run bench [-- NAME... --rounds N --no-peers --against DIR --save]: real processes, over loopback and pipes only.
const questions: Record<string, Question> = {
  'http-call': httpCall,
  'http-large': httpLarge,
  websocket,
  stdio,
  relay,
  'cold-start': coldStart,
  'tools-list': toolsList,
  growth,
  idle,
  initialize,
  nodes,
  observability,
  openapi,
  rest,
  rules,
  search,
  tasks,
  views
}
/** Asked only by name. Their results have tables of their own. */
const APART = new Set(['nodes', 'observability', 'openapi', 'rest', 'rules', 'search', 'tasks', 'views'])
/** Questions of them that are about this gateway alone. */
const WITHOUT_PEERS = new Set(['nodes', 'observability', 'openapi', 'rest', 'rules', 'tasks', 'views'])

const OPTIONS = {
  rounds: { type: 'string', default: '5' },
  'no-peers': { type: 'boolean', default: false },
  against: { type: 'string' },
  save: { type: 'boolean', default: false }
} as const

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void stopAll().then(() => process.exit(130))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
} finally {
  await stopAll()
}

/** Returns true if nothing broke: a goal that is missed is a result like any other. */
async function main (args: string[]): Promise<boolean> {
  if (!isMeasurable) throw new Error('CPU time of processes comes from /proc, which is there on Linux only')
  const { names, rounds, against, saving, ...wanted } = choices(args)
  const isApart = names.every(name => APART.has(name))
  const peers = wanted.peers && !names.every(name => WITHOUT_PEERS.has(name))
  const trouble: string[] = []
  const complain = (line: string): void => { trouble.push(line); say(`!!! ${line}`) }
  const where = machine(rounds)
  say(`${where}; ${stepAside()}`)
  const installed = (peers || (saving && !isApart)) && hasPackages(complain)
  const findings = await ask(names, {
    rounds,
    peers: peers && installed,
    say,
    complain,
    ...(against === undefined ? {} : { against })
  })
  console.log(`${table(findings)}\n\n${summary(findings)}`)
  for (const line of trouble) console.log(`!!! ${line}`)
  const isSaved = saving && trouble.length === 0
  if (isSaved && isApart) saveApart(String(names), findings, where)
  else if (isSaved) save(findings, where)
  return trouble.length === 0
}

interface Choices { names: string[], rounds: number, peers: boolean, against: string | undefined, saving: boolean }

function choices (args: string[]): Choices {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS })
  const unknown = positionals.find(name => !Object.hasOwn(questions, name))
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${Object.keys(questions).join(', ')}`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number above 0')
  const against = values.against === undefined ? undefined : resolve(values.against)
  if (against !== undefined && !existsSync(join(against, 'dist/cli.js'))) {
    throw new Error(`--against: there is no dist/cli.js in ${against}; run npm run build there`)
  }
  if (values.save && against !== undefined) throw new Error('--save is for a run without --against')
  if (values.save && positionals.length > 0 && !APART.has(String(positionals))) {
    throw new Error(
      `--save is for a run of all questions, or of ${[...APART].join(' or ')} alone: figures of different runs do not belong into one table`
    )
  }
  return {
    names: positionals.length > 0 ? positionals : Object.keys(questions).filter(name => !APART.has(name)),
    rounds,
    peers: !values['no-peers'],
    against,
    saving: values.save
  }
}

async function ask (names: string[], setting: Setting): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const name of names) {
    try {
      findings.push(...await (questions[name] as Question)(setting))
    } catch (error) {
      setting.complain(`${name}: ${(error as Error).message}`)
    }
  }
  return findings
}

function hasPackages (complain: (line: string) => void): boolean {
  const why = install(say)
  if (why !== undefined) complain(`the peers cannot be installed, so there are none in this run: ${why}`)
  return why === undefined
}

function say (line: string): void {
  console.error(line)
}
