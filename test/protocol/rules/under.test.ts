import t from 'tap'
import { isUnder } from '../../../protocol/rules/under.js'

/** Values by what a test for the base says of them: true, false, or open. */
const PLACES: Record<string, { inside: string[], outside: string[], open: unknown[] }> = {
  '/srv/data': {
    inside: ['/srv/data', '/srv/data/', '/srv/data/a/b', '/srv/data/./a', '/srv/x/../data/a', '/srv/data/a/../b', '/srv/data/100%'],
    outside: ['/srv/database', '/srv', '/', '/srv/data/../etc/passwd', '/srv/data/a/../../x', '/etc/srv/data'],
    open: [
      undefined, null, 7, ['/srv/data/a'], {}, '', 'srv/data', './a', '../a', '~/a', '//srv/data', '/srv//data/a',
      '/srv/data/%2e%2e/etc', '/srv/data/%2E%2E%2Fetc', '/srv/data\0/x', '/srv/data/a\n', '/srv/data\\..\\etc',
      '/srv/data/a.', '/srv/data/.. /etc', '/srv/data ', '/SRV/data/a', '/srv/Data', 'file:///srv/data/a'
    ]
  },
  'C:\\data': {
    inside: ['C:\\data\\a', 'c:/DATA/a', 'C:\\data\\x\\..\\a'],
    outside: ['D:\\data\\a', 'C:\\database', 'C:\\data\\..\\windows'],
    open: ['C:data', '\\\\host\\data', '/data/a', 'C:\\data.\\a', 'C:\\data\\a:stream', 'C:\\DATA~1\\a', 'C:\\data\\\\a']
  },
  'https://git.example.com/team/': {
    inside: [
      'https://git.example.com/team', 'https://git.example.com/team/a?x=1#y', 'HTTPS://GIT.Example.COM/team/a',
      'https://git.example.com:443/team/a', 'https://git.example.com/x/../team/a', 'https://git.example.com/%74eam/a'
    ],
    outside: [
      'https://git.example.com/teams', 'https://git.example.com/team/../x', 'https://git.example.com/team/%2e%2e/x',
      'https://git.example.com.evil.test/team/a', 'https://evil.test/git.example.com/team',
      'http://git.example.com/team/a', 'https://git.example.com:8443/team/a'
    ],
    open: [
      'https://git.example.com@evil.test/team/a', 'https://user@git.example.com/team/a', 'https://git.example.com./team/a',
      'https://git.example.com/team%2f..%2fx', 'https://git.example.com/team//a', 'https:\\\\git.example.com\\team',
      'https://git.example.com/team/%252e%252e/x', 'https://git.example.com/TEAM/a', ' https://git.example.com/team',
      'https:/git.example.com/team', '/team/a', 'https://git.example.com/team/\ta', 'https://[', 5
    ]
  },
  'file:///srv/data': {
    inside: ['file:///srv/data/a', 'FILE:///srv/data/a'],
    outside: ['file:///srv/data/../x', 'file://host/srv/data/a', 'file:///srv/database'],
    open: ['/srv/data/a', 'file:///srv/data/%2fetc', 'file:/srv/data']
  }
}

for (const [base, { inside, outside, open }] of Object.entries(PLACES)) {
  t.test(`under ${base} is what is below it, and what can be read in two ways is open`, async t => {
    const test = isUnder(base)
    for (const value of inside) t.equal(test(value), true, `${value} is inside`)
    for (const value of outside) t.equal(test(value), false, `${value} is outside`)
    for (const value of open) t.equal(test(value), undefined, `${JSON.stringify(value)} is open`)
  })
}

t.test('a base that is neither a path nor a URL is refused', async t => {
  for (const base of ['srv', './srv', '//srv', 'https://', 'C:', '']) t.throws(() => isUnder(base), base)
})
