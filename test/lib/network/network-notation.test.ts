import t from 'tap'
import { isNetwork } from '../../../lib/network/network-notation.js'

t.test('addresses and networks are distinguished from other texts', async t => {
  for (const text of ['127.0.0.1', '10.0.0.0/8', '0.0.0.0/1', '::1', 'fd00::/8', '2001:db8::1/128']) t.ok(isNetwork(text), text)
  for (const text of ['', 'proxy.internal', '10.0.0', '10.0.0.0/', '10.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', 'fe80::1%eth0', '10.0.0.0/255.0.0.0']) t.notOk(isNetwork(text), text)
})
