import { once } from 'node:events'
import { createWriteStream, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnChild } from './child.mjs'

const LEG_MS = 10 * 60_000
const VERDICTS = new Set(['SUCCESS', 'FAILURE', 'WARNING'])

/** Runs every scenario of one revision and counts from the files the suite leaves in `output`; an exempt scenario does not count. */
export async function runLeg ({ command, args }, url, revision, expected, output, exempt) {
  mkdirSync(output, { recursive: true })
  const log = createWriteStream(join(output, 'suite.log'))
  await once(log, 'open')
  const suite = spawnChild(command, [...args, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', output], {
    stdio: ['ignore', log, log],
    timeout: LEG_MS
  })
  const [code, signal] = await once(suite, 'exit')
  log.end()
  const all = readScenarios(output)
  const scenarios = all.filter(({ name }) => name !== exempt)
  return judge(revision, expected - (all.length - scenarios.length), scenarios, code ?? signal)
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
export function judge (revision, expected, scenarios, exit) {
  const checks = scenarios.flatMap(scenario => scenario.checks)
  const count = status => checks.filter(check => check.status === status).length
  const idle = scenarios.filter(isIdle)
  const passed = scenarios.filter(scenario => !isIdle(scenario) && !scenario.checks.some(check => check.status === 'FAILURE'))
  const [failed, warnings] = [count('FAILURE'), count('WARNING')]
  const verdicts = checks.filter(check => VERDICTS.has(check.status)).length
  return {
    line: `${revision}: ${passed.length}/${expected} scenarios, ${verdicts} checks, ${failed} failed, ${warnings} warnings, ${idle.length} idle`,
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
