import t from 'tap'
import { banner } from '../../cli/report/banner.js'
import { check } from '../../cli/report/check.js'
import { stdioEntry } from '../../cli/report/clients.js'
import { resolveOptions } from '../../options.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { gateway } from '../support/gateway.js'
import { initialize, launch, PROCESSES } from '../support/process.js'

const CANARY = 'canary-5519'

t.test('patchbay --redis', async t => {
  t.jobs = PROCESSES

  for (const [url, why] of [
    [`http://:${CANARY}@127.0.0.1:6379`, /^patchbay: --redis: option redis must be a redis:\/\/ or rediss:\/\/ URL\n$/],
    [`localhost:${CANARY}`, /^patchbay: --redis: option redis must be a redis:\/\/ or rediss:\/\/ URL\n$/],
    [
      `redis://:${CANARY}/@localhost`,
      /^patchbay: --redis: option redis must be a URL, such as redis:\S+; write .* as %2F/
    ],
    [
      `redis://ada:${CANARY}@localhost/notes`,
      /^patchbay: --redis: option redis must end with the port, or with \/ and the number of a database\n$/
    ]
  ] as const) {
    t.test(`a URL such as ${url} stops the start with one sentence`, { buffered: true }, async t => {
      for (const args of [[], ['--check']]) {
        const { code, stdout, stderr } = await launch(t, [...args, '--port', '0', '--redis', url]).exit()
        t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: why })
        t.notMatch(stderr, CANARY)
      }
    })
  }

  t.test('a URL in the wrong place is not repeated with its password', { buffered: true }, async t => {
    const url = `redis://:${CANARY}@localhost`
    for (const args of [[url], ['--stdio', url], ['clients', 'cursor', '--redis', url]]) {
      const { stdout, stderr } = await launch(t, args).exit()
      t.match(stdout + stderr, 'redis://:<your password>@localhost')
      t.notMatch(stdout + stderr, CANARY)
    }
  })

  t.test(
    'without a home folder the command starts, because it needs no data folder',
    { ...withRedis, buffered: true },
    async t => {
      const { url } = await redisServer(t)
      const running = launch(t, ['--stdio', '--redis', url], { env: { HOME: '', XDG_DATA_HOME: '' } })
      running.send(initialize)
      t.match(await running.next(), { id: 'hello', result: {} })
      await running.up()
      t.match(running.stderr, new RegExp(`data Redis at ${new URL(url).host}, shared with the other nodes`))
      running.end()
      t.match(await running.exit(), { code: 0 })
    }
  )

  t.test(
    'the password is nowhere: not in the banner, the log, /health, status or errors',
    { ...withRedis, buffered: true },
    async t => {
      const redis = await redisServer(t)
      await redis.send('CONFIG SET requirepass another')
      const url = redis.url.replace('//', `//:${CANARY}@`)
      for (const given of [url, url.replace('redis:', 'rediss:')]) {
        const running = launch(t, ['--port', '0', '--log-level', 'trace'], {
          env: { PATCHBAY_REDIS: given, PATCHBAY_SECRET: 'a secret of the test' }
        })
        const at = await running.url()
        const replies = [
          await fetch(`${at}/health`),
          await post(at, 'tools/list'),
          await post(at, 'tools/call', { name: 'add_note', arguments: { title: 'a', content: 'b' } }),
          await post(at, 'resources/read', { uri: 'server://status' })
        ]
        const shown = (await Promise.all(replies.map(async reply => await reply.text()))).join('\n')
        t.match(shown, /degraded/)
        running.kill('SIGHUP')
        running.kill('SIGTERM')
        const { code, stdout, stderr } = await running.exit()
        t.equal(code, 0)
        t.notMatch(shown + stdout + stderr, CANARY)
      }
    }
  )
})

t.test('what is printed for people names the server, not its password', async t => {
  const redis = `redis://ada:${CANARY}@redis.internal/3`
  const launch = () => stdioEntry(['node', 'cli.js', '--redis', redis], { PATCHBAY_REDIS: redis })
  for (const address of [undefined, 'http://127.0.0.1:8080']) {
    const options = resolveOptions({ redis, stdio: address === undefined })
    const text = banner({
      version: '1',
      address,
      options,
      terminal: true,
      command: 'patchbay',
      launch,
      inventory: {
        upstreams: [],
        views: [],
        tools: [],
        resources: [],
        prompts: [],
        toolCount: 0,
        isComplete: true,
        unavailable: []
      }
    })
    t.match(text, /^ {2}data +Redis at redis\.internal:6379\/3, shared with the other nodes$/m)
    t.notMatch(text, CANARY)
  }
  const { report, mistakes } = await check(() => resolveOptions({ redis }), error => error, () => {})
  t.strictSame(mistakes, [])
  t.match(report, 'Redis at redis.internal:6379/3')
  t.notMatch(report, CANARY)
})

t.test('with a data folder, or in memory, Redis is used and a warning says so', withRedis, async t => {
  const { url } = await redisServer(t)
  for (const [given, warning] of [
    [
      { data: '/nowhere/at/all' },
      /^option data has no effect with option redis: what is in \/nowhere\/at\/all is not used/
    ],
    [{ ephemeral: true }, /^option ephemeral has no effect with option redis/]
  ] as const) {
    const lines: string[] = []
    const app = await gateway(
      t,
      { redis: url, secret: 'a secret of the test', ...given },
      {
        logger: {
          stream: {
            write: line => {
              lines.push((JSON.parse(line) as { msg: string }).msg)
            }
          }
        }
      }
    )
    t.equal(app.mcp.store.kind, 'redis')
    t.equal(lines.filter(line => warning.test(line)).length, 1)
    const warnings: string[] = []
    await check(
      () => resolveOptions({ redis: url, ...given }),
      error => error,
      sentence => warnings.push(sentence)
    )
    t.match(warnings, [warning])
  }
})

async function post (url: string, method: string, params = {}): Promise<Response> {
  return await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  })
}
