import { once } from 'node:events'
import { createWriteStream, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnChild } from './child.mjs'

const LEG_MS = 10 * 60_000
const VERDICTS = new Set(['SUCCESS', 'FAILURE', 'WARNING'])

/** Runs every scenario of one revision and counts from the files the suite leaves in `output`; an exempt scenario does not count. */
export async function runLeg (judge, url, revision, expected, output, exempt) {
  const exit = await runSuite(judge, url, ['--suite', 'all', '--spec-version', revision], output)
  const all = readScenarios(output)
  const scenarios = all.filter(({ name }) => name !== exempt)
  return verdict(revision, expected - (all.length - scenarios.length), scenarios, exit)
}

/** Runs what a revision requires, as the suite has frozen it, and counts the scenarios that are scored. */
export async function runRequirements (judge, url, revision, scored, output) {
  const exit = await runSuite(judge, url, ['--requirements', revision], output)
  return verdict(revision, scored.length, readScenarios(output).filter(({ name }) => scored.includes(name)), exit)
}

async function runSuite ({ command, args }, url, chosen, output) {
  mkdirSync(output, { recursive: true })
  const log = createWriteStream(join(output, 'suite.log'))
  await once(log, 'open')
  const suite = spawnChild(command, [...args, 'server', '--url', url, ...chosen, '-o', output], {
    stdio: ['ignore', log, log],
    timeout: LEG_MS
  })
  const [code, signal] = await once(suite, 'exit')
  log.end()
  return code ?? signal
}

/** Runs scenarios that no suite of a revision has, one by one. */
export async function runScenarios ({ command, args }, url, revision, names, output) {
  mkdirSync(output, { recursive: true })
  const log = createWriteStream(join(output, 'suite.log'))
  await once(log, 'open')
  let exit = 0
  for (const name of names) {
    const suite = spawnChild(
      command,
      [...args, 'server', '--url', url, '--scenario', name, '--spec-version', revision, '--force', '-o', output],
      { stdio: ['ignore', log, log], timeout: LEG_MS }
    )
    const [code, signal] = await once(suite, 'exit')
    exit = exit === 0 ? code ?? signal : exit
  }
  log.end()
  return verdict(revision, names.length, readScenarios(output), exit)
}

/** What the suite left in a folder. */
export function readScenarios (output) {
  return readdirSync(output, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => ({ name: scenarioOf(name), checks: readChecks(join(output, name, 'checks.json')) }))
}

// server-<scenario>-2026-01-31T10-20-30-400Z
const scenarioOf = directory => directory.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')

// A scenario that broke down leaves no file: that is a failure, not silence.
function readChecks (file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return [{ id: 'checks.json', status: 'FAILURE', errorMessage: `the scenario gave no verdict: ${error.message}` }]
  }
}

/** The verdict on a leg. */
export function verdict (revision, expected, scenarios, exit) {
  const checks = scenarios.flatMap(scenario => scenario.checks)
  const count = status => checks.filter(check => check.status === status).length
  const idle = scenarios.filter(isIdle)
  const passed = scenarios.filter(scenario => !isIdle(scenario) && !scenario.checks.some(check => check.status === 'FAILURE'))
  const [failed, warnings] = [count('FAILURE'), count('WARNING')]
  const judged = checks.filter(check => VERDICTS.has(check.status)).length
  return {
    line: `${revision}: ${passed.length}/${expected} scenarios, ${judged} checks, ${failed} failed, ${warnings} warnings, ${idle.length} idle`,
    details: [...exitDetail(exit), ...countDetail(scenarios.length, expected), ...scenarios.flatMap(details)],
    clean: exit === 0 && scenarios.length === expected && passed.length === expected && failed + warnings + idle.length === 0
  }
}

// Well-formed messages prove nothing about the subject of a scenario.
function isIdle ({ checks }) {
  return !checks.some(check => VERDICTS.has(check.status) && check.id !== 'wire-schema-valid')
}

const exitDetail = exit => exit === 0 ? [] : [`the suite ended with ${exit}`]

const countDetail = (found, expected) => found === expected ? [] : [`${found} scenarios were run, not ${expected}`]

function details (scenario) {
  const bad = scenario.checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
  const lines = bad.map(({ status, id, errorMessage, description }) =>
    `${status} ${scenario.name} ${id}: ${errorMessage ?? description ?? ''}`)
  return isIdle(scenario) ? [...lines, `IDLE ${scenario.name}: nothing of it was tested`] : lines
}
