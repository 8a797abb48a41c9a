import t from 'tap'
import { networkOf } from '../../../system/rate/network.js'

const rows: Array<[address: string, network: string]> = [
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::FFFF:10.1.2.3', '10.1.2.3'],
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['::2', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['1:2:3:4::10.1.2.3', '1:2:3:4::/64'],
  ['1::4:5:6:10.1.2.3', '1:0:0:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['10.1.2.3:49152', '10.1.2.3'],
  ['[2001:db8:1:2::6]:443', '2001:db8:1:2::/64'],
  ['[::1]', '::1'],
  ['[::1]:8080', '::1'],
  ['a name', 'no address'],
  ['x'.repeat(14_000), 'no address'],
  ['', 'no address']
]

t.test('all addresses of one host count as one network', async t => {
  for (const [address, network] of rows) t.equal(networkOf(address), network, address)
})
