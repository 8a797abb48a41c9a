// Runs the official conformance suite: against a gateway that offers the fixture, against a second gateway in front of that one,
// and, with its client scenarios, against the gateway as a client of servers behind it. One leg per revision; revisions and the
// words direct, through, requirements, client, skills and tasks on the command line choose some; requirements are the frozen lists of what a revision
// requires, skills and tasks the scenarios of these extensions. Exits 1 unless every scenario of every leg is clean.
import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runClientLeg } from './client-leg.mjs'
import { installJudge, scoredScenarios } from './judge.mjs'
import { runLeg, runRequirements, runScenarios } from './leg.mjs'
import { startServer } from './server.mjs'

const SCENARIOS = { '2025-03-26': 1, '2025-06-18': 27, '2025-11-25': 33, '2026-07-28': 40 }
const REQUIRED = { '2025-11-25': 30, '2026-07-28': 37 }
const SERVERS = { direct: 'serve.js', through: 'through.js' }
// Its tool drops the connection of its client, which is the gateway in front here, and not the suite.
const EXEMPT = { through: 'server-sse-polling' }
// No revision selects the scenarios of an extension.
const EXTENSIONS = {
  skills: {
    scenarios: ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory'],
    revisions: ['2025-11-25', '2026-07-28'],
    servers: ['direct', 'through']
  },
  // The suite skips tasks-status-notifications, whatever a server does.
  tasks: {
    scenarios: [
      'lifecycle', 'capability-negotiation', 'wire-fields', 'request-state-removal', 'mrtr-input', 'request-headers',
      'dispatch-and-envelope', 'required-task-error', 'mrtr-composition'
    ].map(name => `tasks-${name}`),
    revisions: ['2026-07-28'],
    // Upstreams of this revision do not say which tools are tasks only, so that the gateway waits for those.
    servers: ['direct']
  }
}
const MODES = [...Object.keys(SERVERS), 'requirements', 'client', ...Object.keys(EXTENSIONS)]

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = join(root, '.conformance')
const results = join(home, 'results')

process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

try {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1
} catch (error) {
  console.error(`conformance: ${error.message}`)
  process.exitCode = 1
}

async function main (words) {
  const known = [...Object.keys(SCENARIOS), ...MODES]
  const unknown = words.filter(word => !known.includes(word))
  if (unknown.length > 0) throw new Error(`no leg for ${unknown.join(', ')}; there is ${known.join(', ')}`)

  const judge = installJudge(home)
  await rm(results, { recursive: true, force: true })
  const revisions = chosen(Object.keys(SCENARIOS), words)
  const legs = []
  for (const mode of chosen(MODES, words)) legs.push(...await runMode(judge, mode, revisions))
  return report(legs)
}

function chosen (all, words) {
  return words.some(word => all.includes(word)) ? all.filter(word => words.includes(word)) : all
}

async function runMode (judge, mode, revisions) {
  if (mode === 'client') return await runClient(judge)
  if (mode === 'requirements') return await runRequired(judge, revisions)
  return mode in EXTENSIONS ? await runExtension(judge, mode, revisions) : await runServer(judge, mode, revisions)
}

async function runExtension (judge, mode, chosenRevisions) {
  const { scenarios, revisions, servers } = EXTENSIONS[mode]
  return await onServers(mode, servers, revisions.filter(one => chosenRevisions.includes(one)), async (server, revision, output) =>
    await runScenarios(judge, server.url, revision, scenarios, output))
}

async function runRequired (judge, revisions) {
  const required = Object.keys(REQUIRED).filter(one => revisions.includes(one))
  return await onServers('requirements', Object.keys(SERVERS), required, async (server, revision, output) => {
    const scored = scoredScenarios(judge, revision)
    if (scored.length !== REQUIRED[revision]) throw new Error(`${revision} requires ${scored.length} scenarios, not ${REQUIRED[revision]}`)
    return await runRequirements(judge, server.url, revision, scored, output)
  })
}

/** Runs a leg of each revision against each server. */
async function onServers (mode, servers, revisions, run) {
  const legs = []
  for (const name of servers) {
    const server = await startServer(join(root, 'build/test/conformance', SERVERS[name]), join(results, mode, name, 'server.log'))
    try {
      for (const revision of revisions) {
        legs.push(print(await run(server, revision, join(results, mode, name, revision)), `${mode} ${name}`))
      }
    } finally {
      await server.stop()
    }
  }
  return legs
}

async function runServer (judge, mode, revisions) {
  const server = await startServer(join(root, 'build/test/conformance', SERVERS[mode]), join(results, mode, 'server.log'))
  try {
    const legs = []
    for (const revision of revisions) legs.push(print(await runLeg(judge, server.url, revision, SCENARIOS[revision], join(results, mode, revision), EXEMPT[mode]), mode))
    return legs
  } finally {
    await server.stop()
  }
}

async function runClient (judge) {
  return [print(await runClientLeg(judge, join(root, 'build/test/conformance/client.js'), join(results, 'client')), 'client')]
}

function print (leg, mode) {
  console.log(`${mode} ${leg.line}`)
  for (const detail of leg.details) console.log(`  ${detail}`)
  return leg
}

function report (legs) {
  const clean = legs.filter(leg => leg.clean)
  const all = clean.length === legs.length
  const where = all ? '' : `; see ${relative(process.cwd(), results)}`
  console.log(`conformance: ${all ? 'passed' : 'FAILED'}, ${clean.length}/${legs.length} legs clean${where}`)
  return all
}
