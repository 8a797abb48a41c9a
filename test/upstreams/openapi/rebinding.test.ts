import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import t, { type Test } from 'tap'
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

t.test(
  'an API whose name moves from the Internet to this machine gets nothing there',
  { skip: process.platform !== 'linux' && 'only Linux has more addresses of the loopback interface' },
  async t => {
    const victim = await apiServer(t)
    const { port } = new URL(victim.url)
    let calls = 0
    const there = createServer((_request, response) => {
      calls++
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end('{"there":true}')
    }).listen(Number(port), '127.0.0.2')
    await once(there, 'listening')
    t.teardown(() => { there.closeAllConnections(); there.close() })
    let address = PUBLIC
    patchNetwork(t, () => address)
    const { call } = await inFrontOfApi(t, {
      openapi: fileOf(t, documentOf({ '/pets': { get: { operationId: 'pets' } } })), url: `http://${NAME}:${port}`
    })
    t.match(await call('pets'), { structuredContent: { there: true } })
    address = '127.0.0.1'
    await t.rejects(call('pets'), { message: /leads to an address in a network that it must not lead to/ })
    t.equal(calls, 1)
    t.equal(victim.received.length, 0, 'the name leads to no server of this machine')
    address = PUBLIC
    t.match(await call('pets'), { structuredContent: { there: true } })
  }
)
