// Runs the official conformance suite against a gateway that offers the fixture: one leg per revision, or only the revisions
// named on the command line. Exits 1 unless every scenario of every leg is clean.
import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installJudge } from './judge.mjs'
import { runLeg } from './leg.mjs'
import { startServer } from './server.mjs'

const SCENARIOS = { '2025-03-26': 1, '2025-06-18': 27, '2025-11-25': 33, '2026-07-28': 40 }

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

async function main (revisions) {
  const legs = revisions.length === 0 ? Object.keys(SCENARIOS) : revisions
  const unknown = legs.filter(revision => !Object.hasOwn(SCENARIOS, revision))
  if (unknown.length > 0) throw new Error(`no leg for ${unknown.join(', ')}; there is ${Object.keys(SCENARIOS).join(', ')}`)

  const judge = installJudge(home)
  await rm(results, { recursive: true, force: true })
  const server = await startServer(join(root, 'build/test/conformance/serve.js'), join(results, 'server.log'))
  try {
    return report(await runLegs(legs, judge, server.url))
  } finally {
    await server.stop()
  }
}

async function runLegs (revisions, judge, url) {
  const legs = []
  for (const revision of revisions) {
    const leg = await runLeg(judge, url, revision, SCENARIOS[revision], join(results, revision))
    console.log(leg.line)
    for (const detail of leg.details) console.log(`  ${detail}`)
    legs.push(leg)
  }
  return legs
}

function report (legs) {
  const clean = legs.filter(leg => leg.clean)
  const all = clean.length === legs.length
  const where = all ? '' : `; see ${relative(process.cwd(), results)}`
  console.log(`conformance: ${all ? 'passed' : 'FAILED'}, ${clean.length}/${legs.length} legs clean${where}`)
  return all
}
