// Builds build/ and dist/. With --if-needed, only if a source changed since the last build that succeeded; with
// --clean, nothing of former builds stays in dist/.
import { spawnSync } from 'node:child_process'
import { rmSync, utimesSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beginBuild, digestOf, endBuild, isCurrent, lockBuild } from './bundle/last-build.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = 'node_modules/typescript7/bin/tsc'
const MEMORY = ['--incremental', '--tsBuildInfoFile']
const STEPS = [
  ['scripts/prune-build.mjs'],
  [TSC, ...MEMORY, 'build/tsc.tsbuildinfo'],
  [TSC, '-p', 'console', ...MEMORY, 'build/console.tsbuildinfo'],
  ['scripts/bundle.mjs'],
  ['scripts/copy-types.mjs']
]
const [ifNeeded, clean] = ['--if-needed', '--clean'].map(flag => process.argv.includes(flag))

if (!ifNeeded || !isCurrent(ROOT, digestOf(ROOT))) build()
// The command compares its time with that of the sources.
utimesSync(new URL('../dist/app.js', import.meta.url), new Date(), new Date())

function build () {
  lockBuild(ROOT)
  // Taken before the build reads the sources: what changes meanwhile is built by the next.
  const digest = digestOf(ROOT)
  if (ifNeeded && isCurrent(ROOT, digest)) return
  // Not to standard output, which may carry messages.
  if (ifNeeded) process.stderr.write('patchbay: building, because the sources changed; this takes some seconds …\n')
  beginBuild(ROOT)
  if (clean) rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
  for (const step of STEPS) {
    const { status } = spawnSync(process.execPath, step, { cwd: ROOT, stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
  endBuild(ROOT, digest)
}
