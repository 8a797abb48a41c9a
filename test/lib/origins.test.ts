import t from 'tap'
import { isSource, underOtherName } from '../../lib/origins.js'

t.test('a source of a policy is an origin, with or without a path, and can say nothing else', async t => {
  for (const text of ['https://a.example', 'https://*.a.example:8443', 'wss://a.example', 'http://[::1]:80', 'https://a.example/b/']) {
    t.ok(isSource(text), text)
  }
  for (const text of ['*', 'data:', 'https:', "'unsafe-eval'", 'https://a b', 'https://a;b', 'https://a\nb', 'https://a"b', 'https://*', 1]) {
    t.notOk(isSource(text), String(text))
  }
})

t.test('this machine has two names that are different origins, and nothing else has', async t => {
  t.equal(underOtherName('http://localhost:8080/a?b')?.href, 'http://127.0.0.1:8080/a?b')
  t.equal(underOtherName('http://127.0.0.1/')?.href, 'http://localhost/')
  for (const url of ['http://[::1]:8080', 'http://127.0.0.2', 'https://mcp.example.com', 'http://localhost.example', 'http://a b', '']) {
    t.equal(underOtherName(url), undefined, url)
  }
})
