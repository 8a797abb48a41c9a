import t from 'tap'
import { listening } from '../../support/gateway.js'
import { exchange, request, type Head } from '../../support/http-client.js'

const ROUNDS = 1_500
const STATUSES = [200, 400, 403, 404, 405, 409, 413, 414, 415, 422, 431]
const BODIES = [
  '{"text":"hi"}', '{}', '', '{"text":3}', '[]', 'null', '{"a":{"b":[1,2,3]}}', '{"operation":"add","a":1,"b":2}',
  '{"arguments":{},"state":"x","answers":{"user_name":{"action":"accept","content":{"name":"Ada"}}}}',
  '{"answers":{"user_name":{"action":"decline"}}}', '{"__proto__":{"x":1}}', '\u{1f600}'
]
const PATHS = [
  '/api/tools/echo', '/api/tools/calculate', '/api/tools/ask_name', '/api/tools/ask_name/answers', '/api/tools/boom%00',
  '/api/tools/refuse', '/api/resources', '/api/resources?uri=test://text', '/api/resources?uri=a&uri=b', '/api/openapi.json',
  '/api/tools/calculate?operation=add&a=1&b=2', '/api/tools/calculate?a[]=1&constructor=x&__proto__=y', '/api/x/tools/echo',
  '/api/tools/%E0%A4%A', `/api/tools/${'x'.repeat(520)}`
]
const TYPES = ['application/json', 'application/json; charset=utf-8', 'text/plain', '']
const ACCEPTS = ['*/*', 'text/event-stream', 'application/json', 'text/event-stream;q=0', ',,;', '']

/** A generator of numbers that gives the same ones each time. */
function randomOf (seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

t.test('whatever is sent, the answer is JSON or events with a status of the table, and others are served', async t => {
  const { url } = await listening(t, { rest: true, rate: 1_000_000, burst: 1_000_000, maxMessage: 4_096 })
  const port = Number(new URL(url).port)
  const random = randomOf(20_261_118)
  const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T
  for (let round = 0; round < ROUNDS; round++) {
    const body = Buffer.from(pick(BODIES))
    const flips = random(3)
    for (let flip = 0; flip < flips && body.length > 0; flip++) body[random(body.length)] = random(256)
    const method = pick(['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE'])
    const head: Head = [['Host', 'localhost'], ['Content-Type', pick(TYPES)], ['Accept', pick(ACCEPTS)]]
    const path = pick(PATHS)
    const reply = await exchange(port, request(method, path, head, method === 'GET' ? undefined : body))
    const what = `${method} ${path} ${JSON.stringify(body.toString('latin1'))}: ${reply.status} ${reply.body}`
    if (!STATUSES.includes(reply.status)) t.fail(what)
    const type = reply.headers.get('content-type') ?? ''
    if (type.startsWith('text/event-stream')) {
      if (!/event: (result|problem)\n/.test(reply.body)) t.fail(what)
    } else {
      const value: unknown = JSON.parse(reply.body)
      const isProblem = type.startsWith('application/problem+json')
      if (isProblem && (value as { status: number }).status !== reply.status) t.fail(what)
    }
  }
  t.equal((await fetch(`${url}/api/tools/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"still here"}'
  })).status, 200)
})
