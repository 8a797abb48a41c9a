import t from 'tap'
import { isLoopback, isNetwork, readBounded, tryDecode } from '../../lib/network.js'

t.test('every address of the loopback network is loopback, and so is localhost, in every notation', async t => {
  const hosts = [
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.254',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '[::ffff:7f00:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    '127.0.0.1.',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1'
  ]
  for (const host of hosts) t.equal(isLoopback(host), true, host)
})

t.test('an address that other machines can reach is not loopback, nor a name that looks like it', async t => {
  const hosts = [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '::2',
    '::ffff:10.0.0.1',
    'example.com',
    '127.evil.com',
    '127.0.0.1.evil.com',
    'localhost.evil.com',
    'notlocalhost',
    '',
    '/run/app.sock',
    '10.1',
    '0x0a.1',
    '0',
    '256.1',
    'x.y',
    '127.1.evil.com',
    'face'
  ]
  for (const host of hosts) t.equal(isLoopback(host), false, host)
})

t.test('addresses and networks are distinguished from other texts', async t => {
  for (const text of ['127.0.0.1', '10.0.0.0/8', '0.0.0.0/1', '::1', 'fd00::/8', '2001:db8::1/128']) {
    t.ok(isNetwork(text), text)
  }
  for (const text of [
    '',
    'proxy.internal',
    '10.0.0',
    '10.0.0.0/',
    '10.0.0.0/0',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '::1/129',
    'fe80::1%eth0',
    '10.0.0.0/255.0.0.0'
  ]) {
    t.notOk(isNetwork(text), text)
  }
})

t.test('decodes what is encoded, and nothing that is not valid', async t => {
  t.strictSame(['a%20b', '%C3%A4', 'plain', '', '%', '%zz', '%ff'].map(tryDecode), [
    'a b',
    'ä',
    'plain',
    '',
    undefined,
    undefined,
    undefined
  ])
})

const tooLarge = () => new Error('too large')

t.test('reads a body up to the limit', async t => {
  t.equal(String(await readBounded(new Response('12345'), 5, tooLarge)), '12345')
  t.equal((await readBounded(new Response(null), 5, tooLarge)).length, 0)
})

t.test('stops beyond the limit, however much would follow', async t => {
  let chunks = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: controller => {
      chunks++
      controller.enqueue(new Uint8Array(100))
    }
  })
  await t.rejects(readBounded(new Response(endless), 1_000, tooLarge), { message: 'too large' })
  t.ok(chunks < 20)
})
