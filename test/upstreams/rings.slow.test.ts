import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, tool } from '../../app.js'
import { flatten, resolveOptions } from '../../options.js'
import type { Upstream } from '../../upstreams/ports.js'
import { listening } from '../support/gateway.js'
import { until } from '../support/wait.js'
import oldGateway from './real/old-gateway.js'

interface Place {
  readonly name: string
  readonly app: FastifyInstance
  readonly url: string
  readonly lists: { count: number }
}

const RING =
  'it is a Patchbay gateway that has this gateway as an upstream (directly or through others); remove one of them from the configuration of the other'

/** A gateway with one tool, which has its name, and without upstreams. */
async function open (t: Test, name: string, isOld = false): Promise<Place> {
  const lists = { count: 0 }
  const own = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(tool({ name, description: name, run: () => name }))
    mcp.use(async (call, next) => {
      if (call.method === 'tools/list' && call.peer.transport !== 'memory') lists.count++
      return await next()
    })
  }
  // In a ring, the first lists wait for each other.
  const place = await listening(t, {
    plugins: [own, ...(isOld ? [oldGateway] : [])],
    tools: false,
    ephemeral: true,
    limits: { upstreamListWait: 100, upstreamRestartDelay: 10, upstreamRestartDelayMax: 200 }
  })
  return { name, lists, ...place }
}

/** Gives a gateway these upstreams, by name, at their URLs. */
async function connect ({ app }: Place, servers: Record<string, string>): Promise<void> {
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, url]) => [name, { url }]))
  const { entries } = await app.mcp.upstreams.read(flatten(resolveOptions({ mcpServers })))
  await app.mcp.upstreams.configure(entries)
}

const overHttp = ({ url }: Place): string => `${url}/mcp`
const overWebSocket = ({ url }: Place): string => `${url.replace('http', 'ws')}/mcp`

function upstreamOf ({ app, name }: Place, alias: string): Upstream {
  const upstream = app.mcp.upstreams.get(alias)
  if (upstream === undefined) throw new Error(`${name} has no ${alias}`)
  return upstream
}

async function toolsOf (t: Test, { app }: Place): Promise<() => Promise<string[]>> {
  const client = await createClient(app)
  t.teardown(() => client.close())
  return async () =>
    ((await client.request('tools/list'))['tools'] as Array<{ name: string }>).map(({ name }) => name).sort()
}

const isRefused = (place: Place, alias: string): boolean =>
  upstreamOf(place, alias).isFailing && upstreamOf(place, alias).status.lastError === RING

/** The tools that a gateway of a ring lists when one of its hops is refused. */
function expectedOf (ring: readonly Place[], index: number, isRefused: (index: number) => boolean): string[] {
  const next = (index + 1) % ring.length
  const alias = ring[next]?.name ?? ''
  const behind = isRefused(index) ? [] : expectedOf(ring, next, isRefused).map(name => `${alias}__${name}`)
  return [ring[index]?.name ?? '', ...behind].sort()
}

/** Settles when one hop of the ring is refused and everything else is listed. Gives the hop that is refused. */
async function settled (t: Test, ring: readonly Place[]): Promise<{ place: Place, alias: string }> {
  const tools = await Promise.all(ring.map(async place => await toolsOf(t, place)))
  const aliasOf = (index: number): string => ring[(index + 1) % ring.length]?.name ?? ''
  const refused = (index: number): boolean => isRefused(ring[index] as Place, aliasOf(index))
  let seen: string[][] = []
  await until(async () => {
    seen = await Promise.all(tools.map(async list => await list()))
    // Nothing goes round, not even once.
    for (const [index, names] of seen.entries()) {
      if (names.some(name => name.endsWith(`__${ring[index]?.name}`))) {
        throw new Error(`${ring[index]?.name} lists ${names.join(' ')}`)
      }
    }
    if (ring.filter((_place, index) => refused(index)).length !== 1) return false
    return seen.every((names, index) => names.join() === expectedOf(ring, index, refused).join())
  }, 'one refused hop').catch(error => {
    throw new Error(`${String(error)}: ${JSON.stringify([seen, ring.map(({ app }) => app.mcp.upstreams.status())])}`)
  })
  const index = ring.findIndex((_place, at) => refused(at))
  return { place: ring[index] as Place, alias: aliasOf(index) }
}

for (const [transport, urlOf] of Object.entries({ HTTP: overHttp, WebSocket: overWebSocket })) {
  for (const era of ['stateless', 'stateful']) {
    for (const order of ['one after the other', 'at the same time']) {
      for (const names of [['a', 'b'], ['a', 'b', 'c']]) {
        t.test(
          `${names.length} ${era} gateways that are upstreams of each other over ${transport}, configured ${order}: one is refused`,
          async t => {
            const ring = await Promise.all(names.map(async name => await open(t, name, era === 'stateful')))
            const configure = ring.map((place, index) => async () => {
              const next = ring[(index + 1) % ring.length] as Place
              await connect(place, { [next.name]: urlOf(next) })
            })
            if (order === 'at the same time') await Promise.all(configure.map(async work => await work()))
            else for (const work of configure) await work()
            const { place, alias } = await settled(t, ring)

            const upstream = upstreamOf(place, alias)
            const retry = async (): Promise<void> => {
              const { restarts } = upstream.status
              upstream.retry()
              await until(() => upstream.status.restarts > restarts && upstreamOf(place, alias).isFailing)
            }
            const counts = (): string => ring.map(({ lists }) => lists.count).join()
            // A late reading may be under way; what circulates never comes to rest.
            await until(async () => {
              const listed = counts()
              for (let tries = 0; tries < 3; tries++) await retry()
              await settled(t, ring)
              return counts() === listed
            }, 'three tries without a reading')
          }
        )
      }
    }
  }
}

t.test(
  'a ring is refused in words, the other upstreams are served, and so is the refused one when the ring is open',
  async t => {
    const [a, b, other] = (await Promise.all(['a', 'b', 'other'].map(async name => await open(t, name)))) as [
      Place,
      Place,
      Place
    ]
    const servers = { a: { b: overHttp(b), other: overHttp(other) }, b: { a: overHttp(a), other: overHttp(other) } }
    await connect(a, servers.a)
    await until(async () => (await (await toolsOf(t, a))()).includes('b__b'))
    await connect(b, servers.b)
    await until(() => isRefused(a, 'b') !== isRefused(b, 'a'))
    const [refusing, refused] = isRefused(a, 'b') ? [a, b] : [b, a]
    const tools = await toolsOf(t, refusing)
    await until(async () => (await tools()).join() === [refusing.name, 'other__other'].join())
    t.match((await refusing.app.inject('/health')).body, `upstream ${refused.name} does not run: ${RING}`)
    const client = await createClient(refusing.app)
    t.teardown(() => client.close())
    t.match(await client.request('tools/call', { name: 'other__other', arguments: {} }), {
      content: [{ text: 'other' }]
    })
    await connect(refused, { other: overHttp(other) })
    upstreamOf(refusing, refused.name).retry()
    await until(async () => (await tools()).includes(`${refused.name}__${refused.name}`))
  }
)

t.test('a gateway that is its own upstream refuses itself', async t => {
  const a = await open(t, 'a')
  await connect(a, { me: overHttp(a) })
  await until(() => isRefused(a, 'me'))
  t.strictSame(await (await toolsOf(t, a))(), ['a'])
})

t.test('three gateways in a row, and two ways to the same gateway, are no ring', async t => {
  const [a, b, c, d] = (await Promise.all(['a', 'b', 'c', 'd'].map(async name => await open(t, name)))) as [
    Place,
    Place,
    Place,
    Place
  ]
  await connect(b, { d: overHttp(d) })
  await connect(c, { d: overWebSocket(d) })
  await connect(a, { b: overHttp(b), c: overHttp(c) })
  const tools = await toolsOf(t, a)
  await until(async () => (await tools()).join() === 'a,b__b,b__d__d,c__c,c__d__d')
  const client = await createClient(a.app)
  t.teardown(() => client.close())
  for (const name of ['b__d__d', 'c__d__d']) {
    t.match(await client.request('tools/call', { name, arguments: {} }), { content: [{ text: 'd' }] })
  }
  t.notOk([upstreamOf(a, 'b'), upstreamOf(a, 'c')].some(({ isFailing }) => isFailing))
})

t.test('two gateways that have an upstream of each other by its own URL are no ring', async t => {
  const [a, b, x, y] = (await Promise.all(['a', 'b', 'x', 'y'].map(async name => await open(t, name)))) as [
    Place,
    Place,
    Place,
    Place
  ]
  await connect(a, { y: overHttp(y), x: `${overHttp(b)}/x` })
  await connect(b, { x: overHttp(x), y: `${overHttp(a)}/y` })
  const [toolsOfA, toolsOfB] = [await toolsOf(t, a), await toolsOf(t, b)]
  await until(async () => (await toolsOfA()).join() === 'a,x__x,y__y')
  await until(async () => (await toolsOfB()).join() === 'b,x__x,y__y')
})

t.test('clients that are no gateways are told nothing of hops', async t => {
  const [a, b] = await Promise.all(['a', 'b'].map(async name => await open(t, name))) as [Place, Place]
  await connect(a, { b: overHttp(b) })
  const client = await createClient(a.app)
  t.teardown(() => client.close())
  for (const method of ['tools/list', 'prompts/list']) {
    t.notMatch(JSON.stringify(await client.request(method)), /patchbay\/hops/)
  }
  const marked = await client.request('tools/list', { _meta: { 'patchbay/gateway': true } })
  t.match(marked['_meta'], { 'patchbay/hops': [/^[\w-]{16}$/] })
})
