import t from 'tap'
import { isLoopback } from '../../../lib/network/loopback.js'

t.test('every address of the loopback network is loopback, and so is localhost, in every notation', async t => {
  const hosts = ['127.0.0.1', '127.0.0.2', '127.255.255.254', '::1', '[::1]', '::ffff:127.0.0.1', '[::ffff:7f00:1]', 'localhost', 'LOCALHOST', 'localhost.', '127.0.0.1.', '127.1', '0x7f.1', '2130706433', '0177.0.0.1']
  for (const host of hosts) t.equal(isLoopback(host), true, host)
})

t.test('an address that other machines can reach is not loopback, nor a name that looks like it', async t => {
  const hosts = ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::2', '::ffff:10.0.0.1', 'example.com', '127.evil.com', '127.0.0.1.evil.com', 'localhost.evil.com', 'notlocalhost', '', '/run/app.sock', '10.1', '0x0a.1', '0', '256.1', 'x.y', '127.1.evil.com', 'face']
  for (const host of hosts) t.equal(isLoopback(host), false, host)
})
