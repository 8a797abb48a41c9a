import type { FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import { flatten, resolveOptions, Options } from '../../options.js'
import { Limits } from '../../options/limits.js'
import { fingerprintsOf, PER_NODE } from '../../options/node-options.js'
import { onSharedRedis } from '../support/environment/nodes.js'
import { allKeys, redisLink } from '../support/environment/redis-commands.js'
import fixture, { gateway } from '../support/gateway.js'
import { apiKeys } from '../support/keys.js'
import { until } from '../support/wait.js'

/** Options that `gateway` sets. */
const COMMON = { grace: 1_000, limits: { maxEventLoopDelay: 60_000 }, plugins: [fixture] }

/** A gateway, and the messages that it logs. */
async function logged (t: Test, options: Parameters<typeof gateway>[1]) {
  const lines: string[] = []
  const server: FastifyServerOptions = {
    logger: {
      level: 'info',
      stream: {
        write: line => {
          lines.push((JSON.parse(line) as { msg: string }).msg)
        }
      }
    }
  }
  const app = await gateway(t, options, server)
  return { app, lines, self: app.mcp.store.nodes.self ?? '', part: () => app.mcp.health.now().parts?.['nodes'] }
}

const published = async (link: Awaited<ReturnType<typeof redisLink>>, prefix: unknown): Promise<number> =>
  await link.command('HLEN', `${String(prefix)}{v:node options}:d`) as number

onSharedRedis(t, (t, share) => {
  t.test('nodes with different options say so in the log and in /health, by name, and stay ready', async t => {
    const store = await share(t)
    const first = await logged(t, { ...store, rate: 100 })
    const second = await logged(t, { ...store, rate: 50, tools: false, logLevel: 'warn', port: 1, limits: { maxSessions: 5 } })
    for (const [node, other] of [[first, second], [second, first]] as const) {
      const sentence = `options differ between nodes: rate, tools here and at node ${other.self}; give all nodes the same options`
      await until(() => node.part() === sentence, 'the part of /health')
      t.match(node.app.mcp.health.now(), { status: 'degraded', ready: true })
      t.equal(node.lines.filter(line => line === sentence).length, 1)
      t.match((await node.app.inject('/health')).json(), { node: node.self, parts: { nodes: sentence } })
      t.ok(node.lines.includes(`this is node ${node.self}`))
    }
  })

  t.test('a reload that makes the options equal, and the end of a node, end the warning', async t => {
    const store = await share(t)
    const first = await logged(t, { ...store, rate: 100 })
    const second = await logged(t, { ...store, rate: 50 })
    await until(() => first.part() !== undefined && second.part() !== undefined, 'both warn')
    await second.app.mcp.nodeOptions.publish(
      await fingerprintsOf(flatten(resolveOptions({ ...store, rate: 100, ...COMMON })), [])
    )
    await until(() => first.part() === undefined && second.part() === undefined, 'none warns')
    t.ok(first.lines.includes('the options of all nodes are equal again'))
    const third = await logged(t, { ...store, rate: 70 })
    await until(() => first.part()?.includes(third.self) === true, 'a node that joins is noticed')
    await third.app.close()
    await until(() => first.part() === undefined, 'it has left')
  })

  t.test('what nodes publish contains no option, and equal options are no trouble', async t => {
    const store = await share(t)
    // Short names may be found in random texts by chance.
    const named = apiKeys.map(key => ({ ...key, name: `canary-${key.name}` }))
    const options = {
      ...store,
      apiKeys: named,
      secret: 'canary-secret-0123456789-0123456789',
      searchUrl: 'https://search.test/?key=canary-key'
    }
    const [first, second] = [await logged(t, options), await logged(t, options)]
    const link = await redisLink(t, store.redis ?? '')
    await until(async () => await published(link, store.redisPrefix) === 2, 'both have published')
    const text = JSON.stringify(await link.command('HGETALL', `${String(store.redisPrefix)}{v:node options}:d`))
    t.notMatch(text, /canary|sha256:/)
    await first.app.mcp.nodeOptions.publish({ none: '' })
    t.equal(first.part(), undefined)
    t.equal(second.part(), undefined)
    for (const { app } of [first, second]) await app.close()
    t.strictSame(
      (await allKeys(link)).filter(key => key.startsWith(String(store.redisPrefix)) && key.includes('node options')),
      [],
      'and nothing is left of nodes that have ended'
    )
  })
})

t.test(
  'every option that may differ between nodes exists, and those that decide who may do what are compared',
  async t => {
    for (const name of PER_NODE) t.ok(Object.hasOwn({ ...Options.properties, ...Limits.properties }, name), name)
    for (const name of [
      'apiKeys',
      'oauth',
      'scopes',
      'secret',
      'allowAnonymous',
      'tools',
      'plugins',
      'mcpServers',
      'rate'
    ] as const) { t.notOk(PER_NODE.has(name), name) }
  }
)

t.test(
  'a fingerprint does not depend on the order of members and the folder of a plugin, and changes with the value',
  async t => {
    const of = async (given: Parameters<typeof resolveOptions>[0]) =>
      await fingerprintsOf(flatten(resolveOptions(given)), [])
    const one = await of({ plugins: ['/a/x.mjs'], toolRates: { a: 1, b: 2 }, secret: 'a'.repeat(32) })
    t.strictSame(one, await of({ plugins: ['/b/x.mjs'], toolRates: { b: 2, a: 1 }, secret: 'a'.repeat(32) }))
    const other = await of({ plugins: ['/a/y.mjs'], toolRates: { a: 1, b: 3 }, secret: 'b'.repeat(32) })
    t.strictSame(
      Object.keys(one).filter(name => one[name] !== other[name]),
      ['plugins', 'secret', 'toolRates']
    )
  }
)
