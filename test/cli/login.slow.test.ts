import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { browse } from '../support/environment/authorization-server.js'
import { startHostileIssuer } from '../support/environment/hostile-issuer.js'
import { freePort } from '../support/environment/redis-server.js'
import { launch, type Launched } from '../support/process.js'
import { until } from '../support/wait.js'
import { openPlace, type Place } from '../upstreams/sign-in/place.js'

/** The options of every command: a config file, and the data folder. */
async function flagsOf ({ options }: Place): Promise<string[]> {
  const data = String(options.data)
  const file = join(await mkdtemp(join(data, 'config-')), 'patchbay.json')
  await writeFile(file, JSON.stringify({ mcpServers: options.mcpServers }))
  return ['--config', file, '--data', data]
}

/** The address that the command prints. */
async function addressOf (login: Launched): Promise<string> {
  await until(() => /^http:\/\/\S+$/m.test(login.stdout), 'an address')
  return /^http:\/\/\S+$/m.exec(login.stdout)?.[0] ?? ''
}

async function logIn (t: Test, flags: string[]): Promise<void> {
  const login = launch(t, ['login', 'linear', ...flags])
  const page = await browse(await addressOf(login))
  t.match(page, { status: 200, text: /The answer was received/ })
  const { code, stdout, stderr } = await login.exit()
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^Signed in to linear at http:\/\/127\.0\.0\.1:\d+ with the scopes mcp\.$/m)
}

t.test('login tells what needs a sign-in, signs in for a gateway that runs, and logout undoes it', async t => {
  const place = await openPlace(t)
  const flags = await flagsOf(place)
  const serving = launch(t, ['--port', '0', ...flags])
  const url = await serving.url()
  const stateOf = async (): Promise<string> => {
    const { upstreams } = (await (await fetch(`${url}/health`)).json()) as { upstreams: Array<{ state: string }> }
    return upstreams[0]?.state ?? ''
  }
  await until(async () => (await stateOf()) === 'needs sign-in')
  const before = await launch(t, ['login', ...flags]).exit()
  t.match(before, { code: 0, stdout: 'linear  needs a sign-in: patchbay login linear\n', stderr: '' })
  await logIn(t, flags)
  await until(async () => (await stateOf()) === 'ready', 'the gateway takes the sign-in over')
  const after = await launch(t, ['login', ...flags]).exit()
  t.match(after.stdout, /^linear {2}signed in at http:\/\/\S+, scopes mcp, renewed by itself\n$/)
  t.match(await launch(t, ['lint', 'linear', ...flags]).exit(), { code: 0 }, 'other commands use it, too')
  const out = await launch(t, ['logout', 'linear', ...flags]).exit()
  t.match(out, { code: 0, stdout: /^Signed out of linear \(http:/, stderr: '' })
  t.match(await launch(t, ['logout', 'linear', ...flags]).exit(), { code: 0, stdout: 'There is no sign-in to linear.\n' })
  const texts = [before, after, out].map(({ stdout, stderr }) => stdout + stderr).join('') + serving.stderr
  for (const token of place.server.tokens) t.notOk(texts.includes(token), 'no token is printed')
})

t.test('login comes back to the port that is configured, and takes a code from standard input', async t => {
  const port = await freePort()
  const entry = { oauth: { callbackPort: port } }
  const place = await openPlace(t, { entry })
  const flags = await flagsOf(place)
  const login = launch(t, ['login', 'linear', ...flags])
  const address = await addressOf(login)
  t.equal(new URL(address).searchParams.get('redirect_uri'), `http://127.0.0.1:${port}/callback`)
  t.match(await browse(address), { url: new RegExp(`^http://127\\.0\\.0\\.1:${port}/callback\\?`), status: 200 })
  t.match(await login.exit(), { code: 0, stderr: '' })
  const issuer = await startHostileIssuer(t)
  const file = join(String(place.options.data), 'other.json')
  await writeFile(file, JSON.stringify({ mcpServers: { other: { type: 'http', url: `${issuer.url}/mcp` } } }))
  const pasting = launch(t, ['login', 'other', '--config', file, '--data', String(place.options.data)])
  await addressOf(pasting)
  pasting.write('the-code\n')
  t.match(await pasting.exit(), { code: 0, stdout: /^Signed in to other at /m })
  t.same(issuer.codes, ['the-code'])
})

t.test('login says what to do where it cannot sign in', async t => {
  const place = await openPlace(t)
  const flags = await flagsOf(place)
  const [config = '', file = ''] = flags
  for (const [args, words] of [
    [['login', 'linaer', ...flags], 'patchbay: there is no upstream server "linaer"; did you mean "linear"?\n'],
    [['login', 'linear', config, file, '--ephemeral'], /^patchbay: a sign-in has to be stored, and with --ephemeral nothing is; /],
    [['logout', ...flags], 'patchbay: which server? patchbay logout NAME; patchbay login lists them\n']
  ] as Array<[string[], string | RegExp]>) {
    t.match(await launch(t, args).exit(), { code: 1, stdout: '', stderr: words }, args.slice(0, 2).join(' '))
  }
})
