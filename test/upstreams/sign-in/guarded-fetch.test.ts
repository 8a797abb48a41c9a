import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { GuardedFetch } from '../../../upstreams/sign-in/guarded-fetch.js'

const SECRETS = ['https://127.0.0.1/', 'https://localhost/', 'https://[::1]/', 'https://[::ffff:127.0.0.1]/']
const PRIVATE = ['https://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[fd00::1]/', 'https://0x0a000001/']

t.test('a server on the Internet cannot have this machine or a private network asked', async t => {
  const guarded = new GuardedFetch('public')
  for (const url of [...SECRETS, ...PRIVATE]) {
    await t.rejects(guarded.check(url, 'it'), { message: /in a network that the server itself is not in/ }, url)
    await t.rejects(guarded.fetch(new URL(url), 'it'), { message: /in a network that the server itself is not in/ }, url)
  }
  t.match(await guarded.check('https://1.1.1.1/', 'it'), { hostname: '1.1.1.1' })
})

t.test('a server in a private network cannot have this machine asked, and one on this machine can', async t => {
  for (const url of SECRETS) await t.rejects(new GuardedFetch('private').check(url, 'it'), { message: /is not in/ }, url)
  for (const url of PRIVATE) await new GuardedFetch('private').check(url, 'it')
  for (const url of [...SECRETS, ...PRIVATE]) await new GuardedFetch('loopback').check(url, 'it')
})

t.test('only https is used, or http on this machine, without a user', async t => {
  const guarded = new GuardedFetch('loopback')
  for (const [url, words] of [
    ['http://10.0.0.1/', /not an https URL/],
    ['ftp://127.0.0.1/', /not an https URL/],
    ['javascript:alert(1)', /not an https URL/],
    ['https://me:secret@127.0.0.1/', /has a user or a password/],
    ['nonsense', /is no URL/]
  ] as const) await t.rejects(guarded.check(url, 'it'), { message: words }, url)
})

t.test('a reply that does not come, or does not end, is given up', async t => {
  const server = createServer((request, response) => {
    if (request.url === '/slow') response.write('{')
    if (request.url !== '/dripping') return
    const drip = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(drip))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const { port } = server.address() as AddressInfo
  for (const path of ['/silent', '/slow', '/dripping']) {
    await t.rejects(new GuardedFetch('loopback', 100).fetch(new URL(path, `http://127.0.0.1:${port}`), 'it'), {
      name: 'NoAnswer',
      message: /^it \(http:\/\/127\.0\.0\.1:\d+\) does not answer: it took more than 0\.1 s$/
    }, path)
  }
})

t.test('the address that was checked is the one that is connected to', async t => {
  const server = createServer((request, response) => response.end(request.headers.host)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const reply = await new GuardedFetch('loopback').fetch(new URL(`http://localhost:${port}/`), 'it')
  t.equal(await reply.text(), `localhost:${port}`)
  await t.rejects(new GuardedFetch('loopback').fetch(new URL('https://no-such-host.invalid/'), 'it'), {
    message: /which cannot be found/
  })
})

t.test('a name that is given another address after the check is checked again, and asked for once a request', async t => {
  let connections = 0
  const server = createNetServer(socket => { connections++; socket.destroy() }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = new URL(`https://honest.example:${(server.address() as AddressInfo).port}/token`)
  const answers = ['1.1.1.1', '127.0.0.1']
  const rebinding = new GuardedFetch('public', undefined, async () => [{ address: answers.shift() ?? '', family: 4 }])
  t.equal((await rebinding.check(url.href, 'it')).href, url.href)
  await t.rejects(rebinding.fetch(url, 'it'), { message: 'it is at honest.example, in a network that the server itself is not in; it is not used' })
  t.equal(connections, 0)
  const later = ['127.0.0.1', '127.0.0.2']
  const local = new GuardedFetch('loopback', undefined, async () => [{ address: later.shift() ?? '', family: 4 }])
  await t.rejects(local.fetch(url, 'it'), { name: 'NoAnswer' })
  t.equal(connections, 1)
  t.same(later, ['127.0.0.2'], 'the connection has the address that was checked')
})

t.test('one private address among public ones is enough to refuse a name', async t => {
  const mixed = async (): Promise<Array<{ address: string, family: number }>> =>
    [{ address: '1.1.1.1', family: 4 }, { address: '169.254.169.254', family: 4 }]
  await t.rejects(new GuardedFetch('public', undefined, mixed).check('https://honest.example/', 'it'), { message: /in a network that the server itself is not in/ })
})
