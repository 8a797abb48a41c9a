import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { spawnChild } from './child.mjs'
import { readScenarios, verdict } from './leg.mjs'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'

// All client scenarios but those of authorization, which is not the client's part here, and of extensions.
const SCENARIOS = [
  ['initialize', LEGACY], ['tools_call', LEGACY], ['tools_call', MODERN], ['elicitation-sep1034-client-defaults', LEGACY], ['sse-retry', LEGACY],
  ['request-metadata', MODERN], ['sep-2322-client-request-state', MODERN], ['http-standard-headers', MODERN], ['http-custom-headers', MODERN],
  ['http-invalid-tool-headers', MODERN], ['json-schema-ref-no-deref', MODERN], ['json-schema-2020-12-preservation', LEGACY], ['json-schema-2020-12-preservation', MODERN]
]

/** Runs the client scenarios against a program that connects to the URL in its last argument. */
export async function runClientLeg ({ command, args }, program, output) {
  mkdirSync(output, { recursive: true })
  const log = createWriteStream(join(output, 'suite.log'))
  await once(log, 'open')
  let worst = 0
  for (const [scenario, revision] of SCENARIOS) {
    const folder = join(output, revision)
    const suite = spawnChild(command, [...args, 'client', '--command', `${process.execPath} ${program}`, '--scenario', scenario, '--spec-version', revision, '-o', folder], { stdio: ['ignore', log, log] })
    const [code, signal] = await once(suite, 'exit')
    if (code !== 0) worst = code ?? signal
  }
  log.end()
  return verdict('scenarios', SCENARIOS.length, [LEGACY, MODERN].flatMap(revision => readScenarios(join(output, revision))), worst)
}
