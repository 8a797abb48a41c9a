import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { withNginx } from '../support/environment/nginx.js'
import { freePort, RedisServer, withRedis } from '../support/environment/redis-server.js'
import { openSession } from '../support/http-session.js'
import { folder, launch, type Launched } from '../support/process.js'
import { until, within } from '../support/wait.js'
import { deployed, services } from './files.js'

const { valkey, nginx, ...others } = services()

t.test(
  'the services of the compose file serve a client, with processes in place of containers',
  { skip: withRedis.skip || withNginx.skip },
  async t => {
    const redis = await startStore(t)
    const nodes = Object.entries(others)
      .filter(([name]) => name.startsWith('node'))
      .map(([, { environment = {} }]) => launch(t, ['--port', '0'], { env: { ...environment, PATCHBAY_REDIS: redis } }))
    const addresses = await Promise.all(nodes.map(async node => new URL(await node.url()).host))
    const url = await startProxy(t, addresses)
    t.equal(
      (await fetch(url + new URL(nginx?.healthcheck?.test?.at(-1) ?? '').pathname)).status,
      200,
      'the health check of nginx'
    )

    const session = await openSession(url)
    const count = async (id: number) =>
      await session.post({ id, method: 'tools/call', params: { name: 'increment_counter', arguments: {} } })
    for (let id = 1; id <= 6; id++) t.match(await count(id), { status: 200 })
    const served = nodes.map(({ stderr }) => stderr.match(/tools\/call increment_counter ok/g)?.length ?? 0)
    t.comment(`calls of one session at each node: ${served.join(', ')}`)

    const [first] = nodes as [Launched]
    first.kill('SIGKILL')
    await first.exit()
    for (let id = 7; id <= 12; id++) {
      t.match(await count(id), { status: 200 }, 'nginx passes on what the dead node does not accept')
    }
    const read = await session.post({ id: 13, method: 'resources/read', params: { uri: 'server://counter' } })
    t.match(JSON.stringify(read), /\b12\b/, 'each call was carried out once')
  }
)

/** Valkey's part is played by Redis, with the same settings. */
async function startStore (t: Test): Promise<string> {
  const server = new RedisServer(await freePort())
  const child = spawn(
    'redis-server',
    [
      ...(valkey?.command?.slice(1) ?? []),
      '--port',
      String(server.port),
      '--bind',
      '127.0.0.1',
      '--dir',
      await folder(t, {})
    ],
    { stdio: 'ignore' }
  )
  const ended = once(child, 'exit')
  t.teardown(async () => { child.kill('SIGKILL'); await ended })
  await within(60_000, async signal => {
    while ((await server.send('PING').catch(() => '')) !== '+PONG') signal.throwIfAborted()
  })
  return server.url
}

async function startProxy (t: Test, nodes: string[]): Promise<string> {
  const port = await freePort()
  const site = deployed('compose-nginx.conf')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replaceAll(/node(\d):8080/g, (_name, number) => nodes[Number(number) - 1] ?? '')
  const place = await folder(t, {})
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${place}/${kind};`)
    .join(' ')
  const conf = await folder(t, {
    conf: `daemon off; master_process off; pid ${place}/pid; events {}\nhttp { access_log off; ${temporary}\n${site}}\n`
  })
  const child = spawn('nginx', ['-p', place, '-c', join(conf, 'conf'), '-e', join(place, 'error.log')], {
    stdio: 'ignore'
  })
  const ended = once(child, 'exit')
  t.teardown(async () => { child.kill('SIGTERM'); await ended })
  const url = `http://127.0.0.1:${port}`
  await until(async () => await fetch(`${url}/livez`).then(({ ok }) => ok, () => false), 'an answer', 60_000, 20)
  return url
}
