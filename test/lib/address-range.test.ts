import t from 'tap'
import { rangeOf } from '../../lib/address-range.js'

t.test('an address is on this machine, in a private network, or on the Internet', async t => {
  for (const [range, addresses] of Object.entries({
    loopback: ['127.0.0.1', '127.9.9.9', '::1', '[::1]', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
    private: [
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '169.254.169.254',
      '172.16.0.1',
      '192.168.1.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      'fd00::1',
      'fe80::1%eth0',
      'fec0::1',
      '::10.0.0.1',
      '::1.1.1.1',
      '2001::1',
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      'ff02::1',
      '::ffff:10.0.0.1',
      '::ffff:c0a8:101',
      '2002:a00:1::',
      '64:ff9b::a00:1',
      'no address'
    ],
    public: ['1.1.1.1', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '2001:4860:4860::8888', '::ffff:1.1.1.1']
  })) for (const address of addresses) t.equal(rangeOf(address), range, address)
})
