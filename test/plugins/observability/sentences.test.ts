import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { tool, ToolError, Type, type Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { client, type Json } from '../../support/recorder.js'

type Line = Json & { level: number, msg: string }

const SECRET = 'argument-4711'
const TOOLS = [
  tool({
    name: 'declines',
    description: 'Fails in its own words',
    run: () => {
      throw new ToolError(`no ${SECRET}`)
    }
  }),
  tool({
    name: 'breaks',
    description: 'Throws',
    run: () => {
      throw new TypeError('x is not\na function')
    }
  }),
  tool({
    name: 'throws_text',
    description: 'Throws no error',
    run: () => {
      throw 'plain text' // eslint-disable-line no-throw-literal
    }
  }),
  tool({
    name: 'talks',
    description: 'Logs',
    run: (_input, call) => {
      call.log('info', 'a word')
    }
  }),
  tool({ name: 'guarded', description: 'Needs a scope', scopes: ['vault'], run: () => 'open' })
]

async function logged (t: Test, options: Partial<Options> = {}, trustProxy = false) {
  const lines: Line[] = []
  const raw: string[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      raw.push(String(chunk))
      lines.push(JSON.parse(String(chunk)) as Line)
      done()
    }
  })
  const app = await gateway(
    t,
    {
      plugins: [
        async (app: FastifyInstance) => {
          for (const item of TOOLS) app.mcp.tools.add(item)
        }
      ],
      ...options
    },
    { loggerInstance: pino({ level: 'info' }, out), trustProxy }
  )
  return {
    app,
    lines,
    raw,
    sentences: (): Array<[number, string]> =>
      lines.map(({ level, msg }) => [level, msg.replace(/\d+\.\d ms/, 'N ms').replace(/[\da-f-]{36}/, 'UUID')])
  }
}

t.test('the message of a call is a sentence: method, target, outcome, time, caller and transport', async t => {
  const { app, lines, sentences } = await logged(t)
  const { request } = client(app.mcp.dispatcher, {
    transport: 'http',
    identity: { principal: 'key:ada', scopes: new Set(['mcp']) }
  })
  await request('tools/call', { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } })
  await request('ping')
  await request('tools/call', { name: 'declines' })
  await request('tools/call', { name: 'calculate', arguments: { operation: SECRET } })
  await request(`no/${SECRET}\n`)
  await request('tools/call', { name: 'guarded' })
  t.strictSame(sentences(), [
    [30, 'tools/call calculate ok N ms (ada, http)'],
    [30, 'ping ok N ms (ada, http)'],
    [30, 'tools/call declines failed N ms (ada, http)'],
    [30, 'tools/call calculate error -32602 N ms (ada, http)'],
    [30, 'unknown method error -32601 N ms (ada, http)'],
    [40, 'tools/call guarded denied N ms (ada, http)']
  ])
  t.notOk(JSON.stringify(lines).includes(SECRET), 'neither arguments nor the words of a tool')
})

t.test('a caller without a credential has no name, and a token cannot put a line break into the sentence', async t => {
  const { app, sentences } = await logged(t)
  await client(app.mcp.dispatcher, { transport: 'websocket' }).request('ping')
  await client(app.mcp.dispatcher, {
    transport: 'http',
    identity: { principal: 'https://issuer\n\u001b[31m', scopes: 'all' }
  }).request('ping')
  t.strictSame(sentences(), [[30, 'ping ok N ms (websocket)'], [30, 'ping ok N ms (https://issuer??[31m, http)']])
})

t.test('an error that no handler foresaw is a sentence with the error and the id that the client got', async t => {
  const { app, lines, sentences } = await logged(t)
  const { request } = client(app.mcp.dispatcher, { transport: 'http' })
  const answer = await request('tools/call', { name: 'breaks' }) as { error: { data: { correlation: string } } }
  await request('tools/call', { name: 'throws_text' })
  const errors = sentences().filter(([level]) => level === 50)
  t.strictSame(errors, [
    [50, 'tools/call breaks failed: TypeError: x is not; a function (correlation UUID)'],
    [50, 'tools/call throws_text failed: plain text (correlation UUID)']
  ])
  t.match(
    lines.find(({ level }) => level === 50),
    { correlation: answer.error.data.correlation, err: { type: 'TypeError', stack: /sentences\.test/ } }
  )
})

t.test('what a tool logs names the tool; its words are in a field', async t => {
  const { app, lines } = await logged(t)
  await client(app.mcp.dispatcher, { transport: 'http' }).request('tools/call', { name: 'talks' })
  t.match(lines[0], { level: 30, msg: 'log of tools/call talks', data: 'a word' })
})

t.test('nothing that a tool logs can be taken for a field of the line', async t => {
  const forged = {
    level: 60,
    time: 1,
    pid: 2,
    hostname: 'evil',
    msg: 'forged',
    method: 'ping',
    tool: 'other',
    id: 'x',
    audit: { outcome: 'ok' },
    correlation: 'forged',
    err: 'forged',
    listener: 'forged'
  }
  const echo = tool({
    name: 'echo',
    description: 'Logs what it gets',
    input: Type.Object({}, { additionalProperties: true }),
    run: (input, call) => {
      call.log('info', input)
    }
  })
  const wrap = tool({
    name: 'wrap',
    description: 'Logs an error with more',
    run: (_input, call) => {
      call.log('error', { err: new TypeError('no database'), time: 1 })
    }
  })
  const { app, lines, raw } = await logged(t, {
    plugins: [
      async (app: FastifyInstance) => {
        app.mcp.tools.add(echo)
        app.mcp.tools.add(wrap)
      }
    ]
  })
  const { request } = client(app.mcp.dispatcher, { transport: 'http' })
  await request('tools/call', { name: 'echo', arguments: forged })
  await request('tools/call', { name: 'wrap' })
  t.match(lines[0], { level: 30, msg: 'log of tools/call echo', method: 'tools/call', tool: 'echo', data: forged })
  t.strictSame(Object.keys(lines[0] ?? {}).sort(), [
    'data',
    'hostname',
    'id',
    'level',
    'method',
    'msg',
    'pid',
    'time',
    'tool'
  ])
  t.not(lines[0]?.['hostname'], 'evil')
  const own = raw[0]?.replace(JSON.stringify(forged), '') ?? ''
  for (const name of ['level', 'time', 'pid', 'hostname', 'msg', 'method', 'tool', 'id']) {
    t.equal(own.split(`"${name}":`).length, 2, `${name} is there once`)
  }
  t.match(lines[2], {
    level: 50,
    tool: 'wrap',
    err: { type: 'TypeError', message: 'no database', stack: /sentences\.test/ },
    data: { time: 1 }
  })
})

t.test('a refused request is a warning: what, the status, why, and the address', async t => {
  const { app, sentences } = await logged(t, {
    apiKeys: [{ name: 'ada', hash: `sha256:${'0'.repeat(64)}`, scopes: ['mcp'] }]
  })
  await app.inject({ method: 'POST', url: '/mcp', headers: { 'content-type': 'application/json' }, payload: '{}' })
  await app.inject({ method: 'GET', url: `/mcp?q=${SECRET}`, headers: { host: 'evil.example' } })
  await app.inject({ method: 'POST', url: `/${SECRET}`, headers: { origin: 'http://evil.example' } })
  await app.inject({ method: 'POST', url: '/message', headers: { 'x-api-key': 'a b' } })
  t.strictSame(sentences(), [
    [40, 'POST /mcp refused 401: no credential (127.0.0.1)'],
    [40, 'GET /mcp refused 403: host not allowed (127.0.0.1)'],
    [40, 'POST an unknown path refused 403: origin not allowed (127.0.0.1)'],
    [40, 'POST /message refused 400: malformed credential (127.0.0.1)']
  ])
})

t.test('an address that a stranger made up has no control characters and at most 64 characters', async t => {
  const { app, lines, sentences } = await logged(t, {}, true)
  await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { origin: 'http://evil.example', 'x-forwarded-for': `\u009b31m${'x'.repeat(5_000)}` }
  })
  const [, sentence = ''] = sentences()[0] ?? []
  t.match(sentence, /^POST \/mcp refused 403: origin not allowed \(\?31mx{60}\)$/)
  t.match(lines[0], { audit: { address: `?31m${'x'.repeat(60)}` } })
})
