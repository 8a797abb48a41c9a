import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { folder } from '../support/process.js'
import { freePort } from '../support/restarting.js'
import { ROOT, type Block } from './blocks.js'

/** How long the blocks of a page may take on a busy machine. */
const TIMEOUT = 300_000

/** The port that the pages name, and those of the nodes and the Redis of one page. */
const PORT = /\b8080\b/g
const OTHER_PORTS = ['8081', '8082', '6379']

/** A line that starts a gateway which serves HTTP until the reader stops it. */
const SERVES =
  /^((?:[A-Z_]+=(?:'[^']*'|\S*) )*(?:npm start|patchbay|node dist\/cli\.js)\b(?! (?:key|help|version|views)\b)(?!.*(?:--redis|--stdio|--help|--version|--check|\|))[^#&\n]*)&?(?: *#.*)?$/gm

const NOT_COPIED = /^\.|^(node_modules|build|dist|test|bench|docs)$/

/** What a block printed, and the status of the last command if the block failed. */
export interface Ran { block: Block, output: string, failure?: string }

/**
 * Runs the `sh` blocks of a page one after another in one bash, as a reader would in one terminal, in a copy of the
 * checkout.
 */
export async function runInTerminal (t: Test, blocks: Block[], files: Block[]): Promise<Ran[]> {
  const port = await freePort()
  const home = await checkout(t, files, port)
  const script = await withFreePorts([PRELUDE, ...blocks.map(step), 'stop'].join('\n').replaceAll(PORT, String(port)))
  const path = join(home, 'bin')
  const bash = spawn('bash', ['-e', '-c', script], {
    cwd: join(home, 'patchbay'),
    env: { PATH: `${path}:${process.env['PATH']}`, HOME: home, XDG_DATA_HOME: join(home, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true
  })
  const end = (): void => { try { process.kill(-(bash.pid as number), 'SIGKILL') } catch { /* It has ended. */ } }
  const timer = setTimeout(end, TIMEOUT)
  // The whole group, because a failed block leaves its gateway behind.
  bash.on('exit', end)
  t.teardown(() => { clearTimeout(timer); end() })
  const [output, errors, [code]] = await Promise.all([text(bash.stdout), text(bash.stderr), once(bash, 'exit')])
  const outputs = output.split('@@@\n').slice(1)
  return outputs.map((output, index) => {
    const failed = index === outputs.length - 1 && code !== 0
    return {
      block: blocks[index] as Block,
      output,
      ...(failed ? { failure: `exit code ${String(code)}\n${errors.slice(-2_000)}` } : {})
    }
  })
}

async function withFreePorts (script: string): Promise<string> {
  let changed = script
  for (const port of OTHER_PORTS) {
    if (script.includes(port)) changed = changed.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await freePort()))
  }
  return changed
}

/** Bash functions: the gateway of the page is stopped before another one starts, and each block leaves it listening. */
const PRELUDE = `
gateway=
stop () { [ -z "$gateway" ] || { kill $gateway; wait $gateway || true; gateway=; }; }
up () { [ -z "$gateway" ] || until curl -so /dev/null http://127.0.0.1:8080/health; do kill -0 $gateway; sleep 0.05; done; }
default () { [ -n "$gateway" ] || { patchbay & gateway=$!; up; }; }
trap stop EXIT`

function step ({ code: shown }: Block): string {
  // Only the gateway goes to the background.
  const code = shown.replaceAll('npm ci && ', 'npm ci\n')
  const serves = code.search(SERVES) !== -1
  const lines = serves ? code.replace(SERVES, 'stop\n$1 & gateway=$!') : code
  const needsGateway = !serves && code.search(PORT) !== -1
  return `${needsGateway ? 'default' : ':'}\nprintf '@@@\\n'\n${lines.replaceAll('node dist/cli.js', 'patchbay')}\nup`
}

/**
 * A home with a copy of the checkout, the files that the page has the reader store there, and the commands of the
 * pages.
 */
async function checkout (t: Test, files: Block[], port: number): Promise<string> {
  const home = await folder(t, {})
  const root = fileURLToPath(ROOT)
  const copy = join(home, 'patchbay')
  mkdirSync(copy)
  for (const name of readdirSync(root).filter(name => !NOT_COPIED.test(name))) {
    cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  for (const name of ['node_modules', 'build', 'docs']) symlinkSync(join(root, name), join(copy, name))
  for (const { file = '', code } of files) writeFileSync(join(copy, file), code)
  mkdirSync(join(home, 'bin'))
  symlinkSync(process.execPath, join(home, 'bin', 'node'))
  // After npm start in the copy, its own command; before, the tested one.
  command(
    'patchbay',
    `
    case " $* " in *" --stdio "*|*" --port "*|*" --check "*|*" --help "*|*" --version "*|" key "*|" views "*) ;; *) set -- "$@" --port ${port} ;; esac
    [ ! -e dist/cli.js ] || exec node dist/cli.js "$@"
    exec node ${COMMAND} "$@"`
  )
  command('npm', `case $1 in
    ci) ;;
    start) shift; [ "$1" != -- ] || shift; node scripts/bundle.mjs && exec patchbay "$@" ;;
    *) echo "npm $1 is not run here" >&2; exit 1 ;;
  esac`)
  return home

  function command (name: string, script: string): void {
    writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(home, 'bin', name), 0o755)
  }
}
