import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { COMMAND_NAMES } from '../../cli/commands.js'
import { folder, launch, PROCESSES, type Ended } from '../support/process.js'
import { until } from '../support/wait.js'

const SERVER = fileURLToPath(new URL('../upstreams/programs/server.js', import.meta.url))

/** A secret by its place; nothing that is written anywhere may have it. */
const canary = (place: string): string => `canary-${place}-7f3a19c2`
const CANARIES = /canary-[a-z-]+-7f3a19c2|Y2FuYXJ5/

/** Ends at once, after it has said all that it knows. */
const TELLS_ALL = 'console.error(process.argv.join(" "), JSON.stringify(process.env)); process.exit(3)'

/** An HTTP server that refuses everything, and repeats what it was sent. */
async function repeating (t: Test): Promise<string> {
  const server = createServer((request, reply) => {
    const text = `${String(request.url)} ${JSON.stringify(request.headers)}`
    reply.writeHead(request.url?.startsWith('/wants') === true ? 401 : 500, { 'x-text': text }).end(text)
  }).listen(0, '127.0.0.1')
  t.teardown(() => { server.close(); server.closeAllConnections() })
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Servers with a secret in every place that may have one; most of them fail, with a text that repeats it. */
function servers (place: string, host: string): Record<string, object> {
  const program = (...args: string[]) => ({ command: process.execPath, args })
  const far = (path: string, more: object = {}) => ({ url: `http://${host}${path}`, ...more })
  return {
    talks: { ...program(SERVER, '--api-key', canary('argument'), `--password=${canary('assigned')}`), env: { API_TOKEN: canary('env') } },
    dies: { ...program('-e', TELLS_ALL, '--', '--token', canary('argument-told')), env: { GITHUB_TOKEN: canary('env-told') } },
    noise: { ...program('-e', `console.log(process.env.API_KEY); ${TELLS_ALL}`), env: { API_KEY: canary('printed') } },
    asked: { ...program('-e', TELLS_ALL), env: { SOME_PASSWORD: `\${command:${process.execPath} ${join(place, 'print.cjs')}}` } },
    unasked: { ...program('-e', ''), env: { SOME_PASSWORD: `\${command:${process.execPath} ${join(place, 'print.cjs')} fail}` } },
    kept: far('/mcp', { headers: { 'X-Api-Key': `\${file:${join(place, 'secret.txt')}}` } }),
    far: far(`/mcp?token=${canary('query')}`, { headers: { authorization: `Bearer ${canary('bearer')}`, 'X-Api-Key': canary('header') } }),
    user: { url: `http://ada:${canary('userinfo')}@${host}/mcp` },
    wants: far('/wants', { oauth: { clientId: 'me', clientSecret: canary('client-secret') } }),
    alone: far('/wants', { oauth: { grant: 'client_credentials', issuer: `http://${host}`, clientId: 'me', clientSecret: canary('own-secret') } }),
    api: { openapi: `http://${host}/api.json?key=${canary('document')}`, credentials: { tokenUrl: `http://${host}/token`, clientId: 'me', clientSecret: canary('api-secret') } },
    'odd-headers': far('/mcp', { headers: `Bearer ${canary('odd-headers')}` }),
    'odd-env': { ...program(SERVER), env: { API_TOKEN: { value: canary('odd-env') } } },
    'odd-url': { url: `https://exa mple/?token=${canary('odd-url')}` },
    'odd-header': far('/mcp', { headers: { 'X-Api-Key': `${canary('broken-header')}\n` } }),
    'odd-field': { ...program(SERVER), apiToken: canary('unknown-field'), url: `http://ada:${canary('two-addresses')}@${host}/` }
  }
}

/** A home folder with these servers in the config file of the user, and in the file of a client. */
async function prepare (t: Test): Promise<{ home: string, options: string[] }> {
  const home = await folder(t, {})
  const host = await repeating(t)
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text, { mode: 0o600 })
  }
  write('print.cjs', `console.log('${canary('program')}'); process.exit(process.argv[2] === undefined ? 0 : 1)`)
  write('secret.txt', `${canary('file')}\n`)
  const all = servers(home, host)
  write('.config/patchbay/patchbay.json', JSON.stringify({ mcpServers: all, metrics: true, pins: 'report', secret: canary('secret-of-the-gateway-itself') }))
  write('.cursor/mcp.json', JSON.stringify({ mcpServers: { ...all, another: { ...all['dies'], env: { GITHUB_TOKEN: canary('another') } } } }, null, 2))
  return { home, options: ['--data', join(home, 'data'), '--port', '0'] }
}

/** Command lines of every command that may say something of servers, in their order. */
const WALK: Array<[line: string, more?: 'options' | 'url']> = [
  ['check', 'options'], ['list'], ['list --json'], ['doctor', 'options'], ['doctor --json', 'options'], ['lint', 'options'],
  ['views --json', 'options'], ['clients cursor', 'options'], ['pins diff', 'options'], ['pins list', 'options'], ['login', 'options'],
  ['login far', 'options'], ['login alone', 'options'], ['logout wants', 'options'], ['rules explain anonymous talks__echo', 'options'],
  ['import'], ['import cursor --write --secrets variables'], ['export cursor'], ['export cursor --write'], ['export cursor --undo'],
  ['add dies -- x'], ['add more -e API_TOKEN=canary-added-7f3a19c2 -- x'], ['remove canary'],
  ['tools', 'url'], ['call dies__x', 'url'], ['call far__x', 'url'], ['read dies://x', 'url'], ['prompt far__x', 'url'],
  ['approvals', 'url'], ['complete-words call', 'url'], ['completion bash'], ['key ci'], ['new x'], ['help'], ['version'], ['nonsense']
]
/** Both run until they are ended, and are launched on their own. */
const LONG = ['serve', 'watch']

t.test('no command, log, health, metric or feed has a secret of a server in it', { timeout: 300_000 }, async t => {
  const { home, options } = await prepare(t)
  const env = { HOME: home, XDG_CONFIG_HOME: '', PATCHBAY_LIMITS: 'upstreamStartTimeout=20000', PATCHBAY_ALLOW: '' }
  const run = (...args: string[]) => launch(t, args, { env, cwd: home })
  const check = (what: string, text: string): void => {
    t.strictSame(text.split('\n').filter(line => CANARIES.test(line)), [], what)
  }

  const gateway = run('serve', ...options, '--log-level', 'trace')
  const url = await gateway.url()
  const watcher = run('watch', '--json', '--url', `${url}/mcp`)
  await until(() => watcher.stdout.includes('\n'), 'the feed')
  const health = async (): Promise<string> => await (await fetch(`${url}/health`)).text()
  await until(async () => !/"state":"(starting|waiting)"/.test(await health()), 'every server has been tried', 60_000)

  const outputs: Array<[string, Ended]> = []
  const waiting = [...WALK]
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [line, more] = next
      const ended = run(...line.split(' '), ...(more === 'options' ? options : more === 'url' ? ['--url', `${url}/mcp`] : []))
      ended.end()
      outputs.push([line, await ended.exit()])
    }
  }
  await Promise.all(Array.from({ length: PROCESSES }, one))
  for (const [line, { stdout, stderr }] of outputs) check(line, stdout + stderr)
  const walked = new Set(outputs.map(([line]) => line.split(' ')[0] ?? ''))
  t.strictSame(COMMAND_NAMES.filter(name => !walked.has(name) && !LONG.includes(name)), [], 'every command was walked')

  for (const path of ['/health', '/metrics', '/livez', '/readyz', '/mcp/far', '/console', '/nothing?token=x']) {
    check(path, await (await fetch(url + path)).text())
  }
  gateway.kill('SIGTERM')
  const { stderr } = await gateway.exit()
  check('the log', stderr)
  for (const name of ['dies', 'far', 'wants', 'odd-headers']) t.match(stderr, name, 'the log does speak of the servers')
  check('the watch feed', watcher.stdout + watcher.stderr)
  t.match(watcher.stdout, /patchbay\/watch/)
})
