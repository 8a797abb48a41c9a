import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { folder } from '../support/process.js'
import { freePort } from '../support/restarting.js'
import { ROOT, type Block } from './blocks.js'

/** How long the blocks of a page may take on a busy machine. */
const TIMEOUT = 300_000

/** The port that the pages name, and those of nodes, a Redis, an API and an application of single pages. */
const PORT = /\b8080\b/g
const OTHER_PORTS = ['8081', '8082', '6379', '3000']

/** A line that starts a gateway which serves HTTP until the reader stops it. */
const SERVES =
  /^((?:[A-Z_]+=(?:'[^']*'|\S*) )*(?:npm start|patchbay|node dist\/cli\.js)\b(?! [a-z])(?!.*(?:--redis|--stdio|--help|--version|--check|\|))[^#&\n]*)&?(?: *#.*)?$/gm

const NOT_COPIED = /^\.|^(node_modules|build|dist|test|bench|docs)$/

/** What a block printed, and the status of the last command if the block failed. */
export interface Ran { block: Block, output: string, failure?: string }

/**
 * Runs the `sh` blocks of a page one after another in one bash, as a reader would in one terminal, in a copy of the
 * checkout.
 */
export async function runInTerminal (t: Test, blocks: Block[], files: Block[]): Promise<Ran[]> {
  const port = await freePort()
  const steps = [PRELUDE, ...blocks.map(step), 'stop'].join('\n')
  const replacePorts = await portReplacement([steps, ...files.map(({ code }) => code)].join('\n'), port)
  const home = await checkout(t, files.map(file => ({ ...file, code: replacePorts(file.code) })), port)
  const script = replacePorts(steps)
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

/** Replaces the ports that the texts of a page name, each by the same free one wherever it stands. */
async function portReplacement (texts: string, port: number): Promise<(text: string) => string> {
  const free: Array<[RegExp, string]> = [[PORT, String(port)]]
  for (const other of OTHER_PORTS) {
    if (texts.includes(other)) free.push([new RegExp(`\\b${other}\\b`, 'g'), String(await freePort())])
  }
  return text => free.reduce((changed, [named, given]) => changed.replaceAll(named, given), text)
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
  for (const { file = '', code } of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), code)
  }
  mkdirSync(join(home, 'bin'))
  symlinkSync(process.execPath, join(home, 'bin', 'node'))
  // After npm start in the copy, its own command; before, the tested one.
  command(
    'patchbay',
    `
    case " $* " in " tools "*|" call "*|" read "*|" prompt "*|" watch "*) export PATCHBAY_PORT=${port} ;;
      *" --stdio "*|*" --port "*|*" --check "*|*" --help "*|*" --version "*|" "[a-z]*) ;; *) set -- "$@" --port ${port} ;; esac
    [ ! -e dist/cli.js ] || exec node dist/cli.js "$@"
    exec node ${COMMAND} "$@"`
  )
  command('npm', `case $1 in
    ci) ;;
    init) echo '{"type":"module"}' > package.json ;;
    install) mkdir -p node_modules; for name in fastify mcp-patchbay; do
      [ $name = fastify ] && from=${root}/node_modules/fastify || from=${root}
      ln -sfn $from node_modules/$name; done ;;
    start) shift; [ "$1" != -- ] || shift; node scripts/bundle.mjs && exec patchbay "$@" ;;
    *) echo "npm $1 is not run here" >&2; exit 1 ;;
  esac`)
  return home

  function command (name: string, script: string): void {
    writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(home, 'bin', name), 0o755)
  }
}
