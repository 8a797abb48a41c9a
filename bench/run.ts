import { parseArgs } from 'node:util'
import { stepAside } from './measure/cores.js'
import type { Finding } from './measure/goal.js'
import { isMeasurable } from './measure/process.js'
import type { Setting } from './measure/rounds.js'
import { coldStart } from './questions/cold-start.js'
import { growth } from './questions/growth.js'
import { httpCall } from './questions/http-call.js'
import { httpLarge } from './questions/http-large.js'
import { idle } from './questions/idle.js'
import { initialize } from './questions/initialize.js'
import type { Question } from './questions/question.js'
import { stdio } from './questions/stdio.js'
import { toolsList } from './questions/tools-list.js'
import { websocket } from './questions/websocket.js'
import { summary, table } from './report.js'
import { install } from './servers/packages.js'
import { stopAll } from './servers/process.js'

// npm run bench [-- NAME... --rounds N --no-peers --save]: real processes, over loopback and pipes only.
const questions: Record<string, Question> = {
  'http-call': httpCall,
  'http-large': httpLarge,
  websocket,
  stdio,
  'cold-start': coldStart,
  'tools-list': toolsList,
  growth,
  idle,
  initialize
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => { void stopAll().then(() => process.exit(130)) })

try {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await stopAll()
}

/** Whether nothing broke: a goal that is missed is a result like any other. */
async function main (args: string[]): Promise<boolean> {
  if (!isMeasurable) throw new Error('CPU time of processes comes from /proc, which is there on Linux only')
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { rounds: { type: 'string', default: '5' }, 'no-peers': { type: 'boolean', default: false }, save: { type: 'boolean', default: false } } })
  const unknown = positionals.find(name => !Object.hasOwn(questions, name))
  if (unknown !== undefined) throw new Error(`there is no ${unknown}; there are ${Object.keys(questions).join(', ')}`)
  const rounds = Number(values.rounds)
  if (!(rounds > 0)) throw new Error('--rounds must be a number above 0')
  console.error(stepAside())
  const trouble: string[] = []
  const complain = (line: string): void => { trouble.push(line); console.error(`!!! ${line}`) }
  const say = (line: string): void => console.error(line)
  const peers = !values['no-peers'] && havePeers(say, complain)
  const findings = await ask(positionals.length > 0 ? positionals : Object.keys(questions), { rounds, peers, say, complain })
  console.log(`${table(findings)}\n\n${summary(findings)}`)
  for (const line of trouble) console.log(`!!! ${line}`)
  return trouble.length === 0
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

function havePeers (say: (line: string) => void, complain: (line: string) => void): boolean {
  const why = install(say)
  if (why !== undefined) complain(`the peers cannot be installed, so there are none in this run: ${why}`)
  return why === undefined
}
