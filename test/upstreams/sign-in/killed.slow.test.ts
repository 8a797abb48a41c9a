import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { browse } from '../../support/environment/authorization-server.js'
import { ADA, apiKeys, bearer, BOB } from '../../support/keys.js'
import type { Json } from '../../support/modern.js'
import { launch, type Launched } from '../../support/process.js'
import { until } from '../../support/wait.js'
import { ENTRY } from './callers.js'
import { loggedGateway, openPlace, type Place } from './place.js'

/** The options of every command: a config file, and the data folder. */
async function flagsOf ({ options }: Place, more: object = {}): Promise<string[]> {
  const data = String(options.data)
  const file = join(await mkdtemp(join(data, 'config-')), 'patchbay.json')
  await writeFile(file, JSON.stringify({ mcpServers: options.mcpServers, ...more }))
  return ['--config', file, '--data', data]
}

const kill = async (killed: Launched): Promise<void> => {
  process.kill(killed.pid ?? 0, 'SIGKILL')
  await killed.exit()
}

/** Has the token endpoint take codes and answer nothing; waits until one has come. */
async function codeAt ({ issuer }: Place, begin: () => void): Promise<void> {
  let asked = 0
  issuer.answers.set('/token', () => { asked++ })
  begin()
  await until(() => asked === 1, 'the token request')
  issuer.answers.delete('/token')
}

/** What of sign-ins is stored, read by a process that has nothing to do with the one that was killed. */
async function storedIn (t: Test, { options }: Place): Promise<{ signIns: Json, begun: string[], locks: string[] }> {
  const { app } = await loggedGateway(t, { ...options, mcpServers: {} })
  const { values } = app.mcp.store
  const names = await values.keys('upstreams/sign-ins')
  const signIns = Object.fromEntries(await Promise.all(
    names.map(async name => [name, await values.get('upstreams/sign-ins', name)] as const)
  ))
  const [begun, locks] = [await values.keys('upstreams/sign-in-flows'), await values.keys('upstreams/sign-in-locks')]
  await app.close()
  return { signIns, begun, locks }
}

t.test('a login that is killed between code and token leaves the old sign-in as it was, and the next one works', async t => {
  const place = await openPlace(t)
  const flags = await flagsOf(place)
  const addressOf = async (login: Launched): Promise<string> => {
    await until(() => /^http:\/\/\S+$/m.test(login.stdout), 'an address')
    return /^http:\/\/\S+$/m.exec(login.stdout)?.[0] ?? ''
  }
  const logIn = async (): Promise<void> => {
    const login = launch(t, ['login', 'linear', ...flags])
    await browse(await addressOf(login))
    t.match(await login.exit(), { code: 0, stderr: '' })
  }
  const killBetween = async (): Promise<void> => {
    const killed = launch(t, ['login', 'linear', ...flags])
    const address = await addressOf(killed)
    await codeAt(place, () => { browse(address).catch(() => {}) })
    await kill(killed)
  }

  await killBetween()
  t.strictSame(await storedIn(t, place), { signIns: {}, begun: [], locks: [] }, 'nothing is half stored')
  await logIn()
  const before = await storedIn(t, place)
  t.equal(Object.keys(before.signIns).length, 1)
  await killBetween()
  t.strictSame(await storedIn(t, place), before)
  t.match(await launch(t, ['lint', 'linear', ...flags]).exit(), { code: 0 }, 'the old one is used')
  await logIn()
  const after = await storedIn(t, place)
  t.strictSame(Object.keys(after.signIns), Object.keys(before.signIns))
  t.strictNotSame(after.signIns, before.signIns, 'the new one took its place')
})

t.test('a gateway that is killed between code and token of a caller loses no sign-in, and the caller signs in again', async t => {
  const place = await openPlace(t, { entry: ENTRY })
  const flags = await flagsOf(place, { apiKeys })
  let [gateway, url] = ['' as unknown as Launched, '']
  const start = async (): Promise<void> => {
    gateway = launch(t, ['--port', '0', ...flags])
    url = await gateway.url()
  }
  const call = async (key: string, text: string, name = 'linear__echo'): Promise<Json> => {
    const reply = await fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(key) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { text } } })
    })
    return await reply.json() as Json
  }
  /** Opens the link of the error, as a browser does, and comes back with the code. */
  const open = async (key: string, { error }: Json): Promise<() => Promise<Response>> => {
    const link = new URL((error as { data: { url: string } }).data.url).searchParams.get('link') ?? ''
    const headers = { origin: new URL(url).origin, 'content-type': 'application/x-www-form-urlencoded' }
    const page = await fetch(`${url}/sign-in`, { method: 'POST', headers, body: new URLSearchParams({ link, key }).toString() })
    const [cookie = ''] = page.headers.getSetCookie().map(line => line.split(';')[0] ?? '')
    const [, address = ''] = /^0; url=(.*)$/.exec(page.headers.get('refresh') ?? '') ?? []
    const { pathname, search } = new URL((await browse(address, false)).url)
    return async () => await fetch(url + pathname + search, { headers: { cookie } })
  }
  const signIn = async (key: string, refused: Json): Promise<void> => {
    t.match(await (await (await open(key, refused))()).text(), /You are signed in to <b>linear<\/b>/)
  }
  const isAnswered = async (key: string, text: string): Promise<boolean> => 'result' in await call(key, text)

  await start()
  await until(async () => 'error' in await call(ADA, '', 'linear__sign_in'))
  await signIn(ADA, await call(ADA, '', 'linear__sign_in'))
  await until(async () => await isAnswered(ADA, 'hello'), 'the first caller is signed in')
  const before = await storedIn(t, place)

  // One who had none yet, and one who has one and needs more.
  for (const [key, text] of [[BOB, 'hello'], [ADA, 'needs-more']] as const) {
    const comeBack = await open(key, await call(key, text))
    await codeAt(place, () => { comeBack().catch(() => {}) })
    await kill(gateway)
    t.strictSame((await storedIn(t, place)), before, 'nothing is half stored')
    await start()
    await until(async () => await isAnswered(ADA, 'hello'), 'the old sign-in is used')
    t.equal((await comeBack()).status, 400, 'the code does not count twice')
  }
  for (const [key, text] of [[BOB, 'hello'], [ADA, 'needs-more']] as const) {
    await signIn(key, await call(key, text))
    await until(async () => await isAnswered(key, text))
  }
  t.equal(Object.keys((await storedIn(t, place)).signIns).length, 2)
  for (const token of place.server.tokens) t.notOk(gateway.stderr.includes(token), 'no token is in the log')
})
