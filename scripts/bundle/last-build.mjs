// Remembers what the last build was made of, and which files of former builds are kept: a gateway that runs loads some
// of its files late.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = /\.(ts|tsx|mts|css|html|mjs|json)$/
/** Folders that no build reads. */
const SKIPPED = /^(build|dist|docs)$|(^|\/)(node_modules|\.[^/]*)$/
/** Files that have the same name in every build, and are written by their own step. */
const FIXED = /^(prebuilds|fallbacks|types)\/|^LICENSES\.txt$/
const NOTE = 'build/last-build.json'
/** The files that scripts/bundle.mjs wrote. */
const LIST = 'build/bundle-files.json'
/** Has the id of the process that builds. */
const LOCK = 'build/building.pid'
const LONGEST_BUILD = 600_000
/** Of what the other steps make: a file each. */
const OTHERS = ['build/app.js', 'dist/LICENSES.txt', 'dist/types/app.d.ts', 'dist/prebuilds', 'dist/fallbacks']

/** A hash of everything that a build reads: sources, scripts, configuration, and which packages are installed. */
export function digestOf (root) {
  const hash = createHash('sha256').update(process.version)
  for (const file of sourcesIn(root, '')) hash.update(`${file}\0`).update(readFileSync(join(root, file))).update('\0')
  const installed = join(root, 'node_modules/.package-lock.json')
  if (existsSync(installed)) hash.update(readFileSync(installed))
  return hash.digest('hex')
}

function sourcesIn (root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return SKIPPED.test(path) ? [] : sourcesIn(root, path)
      return SOURCES.test(entry.name) ? [path] : []
    })
}

/** Tells whether the last build succeeded, had these sources, and is still there. */
export function isCurrent (root, digest) {
  const { digest: built, files = [] } = read(root, NOTE)
  return (
    built === digest &&
    files.length > 0 &&
    [...files.map(file => `dist/${file}`), ...OTHERS].every(file => existsSync(join(root, file)))
  )
}

/** The files of dist/ that the last bundle has. */
export const listOf = root => read(root, LIST).files ?? []

/** Notes that a build began, so that nothing is current until it succeeds. */
export function beginBuild (root) {
  const { files, former } = read(root, NOTE)
  write(root, NOTE, { files, former })
}

/**
 * Notes of which sources dist/ was made, and deletes what neither this build has nor the last one that was different.
 */
export function endBuild (root, digest) {
  const files = listOf(root)
  const last = read(root, NOTE)
  const former = (String(last.files) === String(files) ? last.former : last.files) ?? []
  sweep(root, new Set([...files, ...former]))
  write(root, NOTE, { digest, files, former })
}

/** Waits until no other process builds here, and keeps others from it until this process ends. */
export function lockBuild (root) {
  mkdirSync(join(root, 'build'), { recursive: true })
  const file = join(root, LOCK)
  for (let told = false; !takeLock(file); told = true) {
    if (!told) process.stderr.write(`patchbay: waiting for the build of another process, whose id is in ${LOCK} …\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  process.on('exit', () => rmSync(file, { force: true }))
}

function takeLock (file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    removeStale(file)
    return false
  }
}

/** Removes the lock of a process that was killed, unless another one has taken it meanwhile. */
function removeStale (file) {
  try {
    const { mtimeMs } = statSync(file)
    if (isHeld(readFileSync(file, 'utf8'), Date.now() - mtimeMs)) return
    const aside = `${file}.${process.pid}`
    renameSync(file, aside)
    if (statSync(aside).mtimeMs === mtimeMs) rmSync(aside)
    else renameSync(aside, file)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

/**
 * A process may have the id of one that was killed: in a container, even this one. No build takes as long as
 * LONGEST_BUILD.
 */
function isHeld (pid, age) {
  if (age > LONGEST_BUILD || pid === String(process.pid)) return false
  // Its writer has created it and not written to it yet.
  if (pid === '') return true
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Notes what a bundle has. */
export function noteFiles (root, files) {
  write(root, LIST, { files: [...files].sort() })
}

function sweep (root, kept) {
  const dist = join(root, 'dist')
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name).slice(dist.length + 1).replaceAll('\\', '/')
    if (entry.isFile() && !FIXED.test(path) && !kept.has(path)) rmSync(join(dist, path))
  }
}

function write (root, file, value) {
  mkdirSync(join(root, 'build'), { recursive: true })
  writeFileSync(join(root, file), JSON.stringify(value))
}

function read (root, file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8'))
  } catch {
    return {}
  }
}
