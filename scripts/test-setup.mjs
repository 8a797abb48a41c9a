// Installs the programs that tests need and this machine lacks, if that is possible without a password. With
// TEST_INSTALL=no it only names them.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs that the tests run besides Node.js, and their Debian packages. */
export const PROGRAMS = [
  { program: 'Xvfb', package: 'xvfb' },
  { program: 'xsel', package: 'xsel' },
  { program: 'redis-server', package: 'redis-server' },
  { program: 'nginx', package: 'nginx' },
  { program: 'chromium', package: 'chromium' },
  { program: 'promtool', package: 'prometheus' },
  { program: 'zsh', package: 'zsh' },
  { program: 'fish', package: 'fish' }
]

const APT = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=60']
const TIMEOUT = 300_000

/** Finds the programs that are not on the PATH. */
export function missing (programs = PROGRAMS) {
  return programs.filter(({ program }) => !isOnPath(program))
}

/** The file of a program on the PATH, or undefined. */
export function pathOf (program) {
  return (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, program)).find(isExecutable)
}

/**
 * Installs what is missing. What cannot be installed is named on standard error, and the tests that need it are
 * skipped.
 */
export function prepare () {
  const wanted = missing()
  if (wanted.length === 0) return
  const trouble = install(wanted.map(({ package: name }) => name))
  const left = missing()
  if (left.length > 0) process.stderr.write(complaint(left, trouble ?? 'the packages do not contain them'))
}

function install (packages) {
  if (process.env.TEST_INSTALL === 'no') return 'TEST_INSTALL is "no"'
  const prefix = privileges()
  if (prefix === undefined) return 'this takes apt-get on Linux, and root or sudo without a password'
  process.stderr.write(`The tests need ${packages.join(' and ')}: installing with apt-get.\n`)
  const install = [...prefix, ...APT, 'install', '-y', '--no-install-recommends', ...packages]
  if (run(install) === undefined) return undefined
  // Usually the package list is missing or too old.
  return run([...prefix, ...APT, 'update']) ?? run(install)
}

function privileges () {
  if (process.platform !== 'linux' || !isOnPath('apt-get')) return undefined
  if (process.getuid() === 0) return []
  return isOnPath('sudo') && run(['sudo', '-n', 'true']) === undefined ? ['sudo', '-n'] : undefined
}

/** The error text of a command; undefined if it succeeded. */
function run ([command, ...args]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    env,
    encoding: 'utf8',
    timeout: TIMEOUT,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  if (status === 0) return undefined
  return [`${[command, ...args].join(' ')} failed${error === undefined ? '' : ` (${error.message})`}`, stdout, stderr]
    .filter(Boolean)
    .join('\n')
    .trim()
}

function complaint (left, trouble) {
  const programs = left.map(({ program }) => program).join(' and ')
  const packages = left.map(({ package: name }) => name).join(' ')
  return `\n*** ${programs} could not be installed: ${trouble}\n*** Tests that need ${left.length > 1 ? 'them' : 'it'} are SKIPPED. To run them: sudo apt-get install ${packages}\n\n`
}

function isOnPath (program) {
  return pathOf(program) !== undefined
}

function isExecutable (file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepare()
