import t from 'tap'
import { expectedOfRedisUrl, placeOf, withoutPassword } from '../../../system/redis/url.js'

t.test('URLs of Redis servers are accepted', async t => {
  for (const url of [
    'redis://localhost',
    'redis://localhost:6379/',
    'rediss://ada:p%40ss@redis.internal:6380/2',
    'redis://:secret@[::1]:6379',
    'redis://10.0.0.7:1'
  ]) {
    t.equal(expectedOfRedisUrl(url), undefined, url)
  }
})

t.test('a mistake is explained without any part of the URL', async t => {
  for (const [url, expected] of [
    ['redis://', /must name a host/],
    ['redis:///0', /must name a host/],
    ['redis://[canary', /must be a URL, such as/],
    ['redis://localhost:99999', /must be a URL, such as/],
    ['redis://:canary/slash@localhost', /write \/ \? # @ and % in a password as %2F/],
    ['redis://:canary#@localhost', /write/],
    ['redis://:canary%@localhost', /%25/],
    ['redis://localhost?password=canary', /without \? and #/],
    ['redis://localhost/canary', /number of a database/]
  ] as const) {
    t.match(expectedOfRedisUrl(url), expected, url)
    t.notMatch(expectedOfRedisUrl(url), /canary/)
  }
})

t.test('people are shown where it is, and never a password', async t => {
  t.equal(placeOf('redis://ada:canary@localhost'), 'localhost:6379')
  t.equal(placeOf('rediss://:canary@[::1]:6380/2'), '[::1]:6380/2')
  for (const url of [
    'redis://:canary@localhost',
    'rediss://ada:can@canary@localhost',
    'redis://:can:canary@localhost/0'
  ]) {
    t.notMatch(withoutPassword(url), /canary|can:/)
  }
  t.equal(withoutPassword('rediss://ada:canary@localhost:1/2'), 'rediss://ada:<your password>@localhost:1/2')
  for (const other of ['redis://localhost:6379', '--redis', '/a:b@c']) t.equal(withoutPassword(other), other)
})
