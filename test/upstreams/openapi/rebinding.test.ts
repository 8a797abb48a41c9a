import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../../support/wait.js'
import { apiServer, documentOf, fileOf, inFrontOfApi } from './api.js'

const PUBLIC = '93.184.216.34'
const NAME = 'rebinding.test'

type Found = Array<{ address: string, family: number }>
type Done = (error: Error | null, found: Found | string, family?: number) => void

/** Answers for the name with `address`, and lets what connects to the public one reach 127.0.0.2. */
function patchNetwork (t: Test, address: () => string): void {
  const { lookup } = dns
  const { connect } = net
  t.teardown(() => {
    Object.assign(dns, { lookup })
    Object.assign(net, { connect })
    syncBuiltinESMExports()
  })
  const lookupOfTest = (name: string, options: object, done: Done): void => {
    if (name === NAME) setImmediate(done, null, [{ address: address(), family: 4 }])
    else lookup(name, options, done as never)
  }
  type Options = net.NetConnectOpts & { lookup?: net.LookupFunction }
  const connectOfTest = (options: Options, ...rest: never[]): net.Socket => {
    const { lookup: given } = options
    if (given === undefined) return connect(options, ...rest)
    const moved = ((name: string, asked: dns.LookupOptions, done: Done) => {
      given(name, asked, (error, found, family) => {
        const elsewhere = JSON.parse(JSON.stringify(found ?? null).replaceAll(PUBLIC, '127.0.0.2')) as string
        done(error, elsewhere, family)
      })
    }) as never
    return connect({ ...options, lookup: moved } as net.NetConnectOpts, ...rest)
  }
  Object.assign(dns, { lookup: lookupOfTest })
  Object.assign(net, { connect: connectOfTest })
  syncBuiltinESMExports()
}

const LINUX = { skip: process.platform !== 'linux' && 'only Linux has more addresses of the loopback interface' }

/** A server on the Internet and one of this machine, and how to move the name between them. */
async function servers (t: Test, document: () => object) {
  const victim = await apiServer(t)
  const { port } = new URL(victim.url)
  const asked: string[] = []
  const there = createServer(({ url = '' }, response) => {
    asked.push(url)
    const body = url === '/openapi.json' ? document() : { there: true }
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }).listen(Number(port), '127.0.0.2')
  await once(there, 'listening')
  t.teardown(() => { there.closeAllConnections(); there.close() })
  let address = PUBLIC
  patchNetwork(t, () => address)
  const move = (to: string): void => { address = to }
  return { url: `http://${NAME}:${port}`, victim: victim.received, asked, move }
}

const withOperation = (operationId: string): object => documentOf({ '/pets': { get: { operationId } } })
const REFUSED = { message: /leads to an address in a network that it must not lead to/ }

t.test('an API whose name moves from the Internet to this machine gets nothing there', LINUX, async t => {
  const { url, victim, asked, move } = await servers(t, () => ({}))
  const { call } = await inFrontOfApi(t, { openapi: fileOf(t, withOperation('pets')), url })
  t.match(await call('pets'), { structuredContent: { there: true } })
  move('127.0.0.1')
  await t.rejects(call('pets'), REFUSED)
  t.strictSame(asked, ['/pets'])
  t.equal(victim.length, 0, 'the name leads to no server of this machine')
  move(PUBLIC)
  t.match(await call('pets'), { structuredContent: { there: true } })
})

t.test('reading its document again does not forget that an API was on the Internet', LINUX, async t => {
  let document = withOperation('pets')
  const { url, victim, asked, move } = await servers(t, () => document)
  const { call, app } = await inFrontOfApi(t, { openapi: `${url}/openapi.json` })
  const reread = async (): Promise<void> => await app.mcp.upstreams.get('api')?.openConnection()?.reread?.()
  t.match(await call('pets'), { structuredContent: { there: true } })
  document = withOperation('others')
  move('127.0.0.1')
  await reread()
  t.equal(victim.length, 0, 'it is not fetched from this machine')
  move(PUBLIC)
  await reread()
  await until(() => app.mcp.tools.names().includes('api__others'), 'the changed document')
  move('127.0.0.1')
  await t.rejects(call('others'), REFUSED)
  t.equal(victim.length, 0)
  move(PUBLIC)
  t.match(await call('others'), { structuredContent: { there: true } })
  t.strictSame(asked, ['/openapi.json', '/pets', '/openapi.json', '/pets'])
})
