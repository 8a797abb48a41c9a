import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { launch } from '../../support/process.js'
import { until } from '../../support/wait.js'
import { loggedGateway, openPlace, signIn } from './place.js'

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'linear__echo', arguments: { text: 'hello' } } }

async function post (url: string): Promise<unknown> {
  const reply = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(CALL)
  })
  return await reply.json()
}

t.test('three processes on Redis whose token has expired at the same time make one token request', withRedis, async t => {
  const { url: redis } = await redisServer(t)
  const place = await openPlace(t)
  const shared = { mcpServers: place.options.mcpServers, redis, secret: 'a secret of all nodes' }
  const file = join(await mkdtemp(join(String(place.options.data), 'config-')), 'patchbay.json')
  await writeFile(file, JSON.stringify(shared))
  const processes = [1, 2, 3].map(() => launch(t, ['--port', '0', '--config', file]))
  const urls = await Promise.all(processes.map(async each => await each.url()))
  const { app } = await loggedGateway(t, { plugins: [], tools: false, ...shared, mcpServers: {} })
  await signIn(app, place.options)
  const answers = async (): Promise<unknown[]> => await Promise.all([...urls, ...urls].map(post))
  const isWell = (all: unknown[]): boolean => all.every(answer => JSON.stringify(answer).includes('hello'))
  await until(async () => isWell(await answers()), 'all use the sign-in')
  for (let round = 1; round <= 3; round++) {
    for (const token of place.server.tokens) place.withdrawn.add(token)
    t.ok(isWell(await answers()), 'each call is answered')
    t.equal(place.issuer.granted.filter(grant => grant === 'refresh_token').length, round)
  }
  t.same(place.issuer.refused, [], 'no refresh token was used twice')
})

t.test('two processes whose token has expired at the same time make one token request', async t => {
  const place = await openPlace(t)
  const data = String(place.options.data)
  const file = join(await mkdtemp(join(data, 'config-')), 'patchbay.json')
  await writeFile(file, JSON.stringify({ mcpServers: place.options.mcpServers }))
  const processes = [1, 2].map(() => launch(t, ['--port', '0', '--config', file, '--data', data]))
  const urls = await Promise.all(processes.map(async each => await each.url()))
  // The one that signs in is a third process, which ends.
  const { app } = await loggedGateway(t, { ...place.options, mcpServers: {} })
  await signIn(app, place.options)
  const answers = async (): Promise<unknown[]> => await Promise.all([...urls, ...urls, ...urls].map(post))
  const isWell = (all: unknown[]): boolean => all.every(answer => JSON.stringify(answer).includes('hello'))
  await until(async () => isWell(await answers()), 'both use the sign-in')
  for (let round = 1; round <= 3; round++) {
    for (const token of place.server.tokens) place.withdrawn.add(token)
    t.ok(isWell(await answers()), 'each call is answered')
    t.equal(place.issuer.granted.filter(grant => grant === 'refresh_token').length, round)
  }
  t.same(place.issuer.refused, [], 'no refresh token was used twice')
  const logs = processes.map(({ stderr }) => stderr).join('')
  for (const token of place.server.tokens) t.notOk(logs.includes(token), 'no token is in a log')
})
