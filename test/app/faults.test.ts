import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createClient, prompt, resource, tool, type McpError } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { callTool, type Json } from '../support/modern.js'

/** A gateway with the given tools, and the lines of its log. */
async function logged (t: Test, ...items: Array<ReturnType<typeof tool>>) {
  const lines: Json[] = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Json)
      done()
    }
  })
  const app = await gateway(t, {
    plugins: [async fastify => {
      for (const item of items) fastify.mcp.tools.add(item)
      fastify.mcp.resources.add(
        resource({
          uri: 'it://broken',
          name: 'broken',
          read: () => {
            throw new Error('secret detail')
          }
        })
      )
      fastify.mcp.prompts.add(prompt({ name: 'broken', get: () => { throw new Error('secret detail') } }))
    }]
  }, { loggerInstance: pino({ level: 'debug' }, output) })
  return { app, lines }
}

const cyclic = (): Json => {
  const cycle: Json = {}
  cycle.self = cycle
  return cycle
}

const failing = (name: string, error: unknown): ReturnType<typeof tool> =>
  tool({
    name,
    description: 'd',
    run: () => {
      throw error
    }
  })

const ASKS: Array<[method: string, params: Json]> = [
  ['tools/call', { name: 'it' }],
  ['resources/read', { uri: 'it://broken' }],
  ['prompts/get', { name: 'broken' }]
]

for (const [method, params] of ASKS) {
  t.test(`${method}: of an unexpected error only a reference leaves the process; the log has the rest`, async t => {
    const { app, lines } = await logged(t, failing('it', new Error('secret detail')))
    const { request } = await createClient(app)
    const error = await request(method, params).catch((error: McpError) => error) as McpError
    t.match(error, { code: -32603, message: /^Internal error/, data: { correlation: /^[0-9a-f-]{36}$/ } })
    t.notMatch(JSON.stringify([error.message, error.data]), /secret|detail|at .*\.[jt]s/)
    const { correlation } = error.data as { correlation: string }
    t.match(
      lines.find(line => line.correlation === correlation),
      { level: 50, method, err: { message: 'secret detail', stack: /faults\.test/ } }
    )
  })
}

t.test('two failures have two numbers', async t => {
  const { app } = await logged(t, failing('it', new Error('x')))
  const errors = await Promise.all([callTool(app, 'it'), callTool(app, 'it')])
  t.not(errors[0].error.data.correlation, errors[1].error.data.correlation)
})

t.test('an error that only looks like ours does not pass as ours', async t => {
  const { app } = await logged(
    t,
    failing('it', { name: 'ToolError', message: 'secret detail' }),
    failing('coded', Object.assign(new Error('secret detail'), { code: 'ENOENT', name: 'McpError' }))
  )
  for (const name of ['it', 'coded']) {
    const answer = await callTool(app, name)
    t.match(answer, { error: { code: -32603 } })
    t.notMatch(JSON.stringify(answer), /secret/)
  }
})

t.test('a result the output schema does not allow is a fault of the tool, not an answer', async t => {
  const wrong = tool({
    name: 'it',
    description: 'd',
    output: Type.Object({ n: Type.Number() }),
    run: () => ({ n: 'secret' }) as unknown as { n: number }
  })
  const { app, lines } = await logged(t, wrong)
  const answer = await callTool(app, 'it')
  t.match(answer, { error: { code: -32603, data: { correlation: String } } })
  t.notMatch(JSON.stringify(answer), /secret/)
  t.match(
    lines.find(line => line.correlation === answer.error.data.correlation),
    { err: { message: /tool "it" returned what its output schema does not allow: n must be number/ } }
  )
})

t.test('a result that cannot be written is a fault of the tool', async t => {
  const { app } = await logged(t,
    tool({ name: 'cycle', description: 'd', run: () => cyclic() }),
    tool({ name: 'bigint', description: 'd', run: () => ({ n: 1n }) }),
    tool({ name: 'inside', description: 'd', run: () => ({ content: [], structuredContent: { n: 1n } }) }))
  const { request } = await createClient(app)
  for (const name of ['cycle', 'bigint', 'inside']) {
    await t.rejects(request('tools/call', { name }), { code: -32603 }, name)
    t.match(await callTool(app, name), { error: { code: -32603 } }, name)
  }
})

t.test('a tool that fails does not keep others from being served', async t => {
  const { app } = await logged(
    t,
    failing('it', new Error('x')),
    tool({ name: 'fine', description: 'd', run: () => 'fine' })
  )
  const answers = await Promise.all([
    callTool(app, 'it'),
    callTool(app, 'fine'),
    callTool(app, 'it'),
    callTool(app, 'fine')
  ])
  t.strictSame(answers.map(({ error }) => error?.code), [-32603, undefined, -32603, undefined])
})

t.test('what a tool logs is in the log of the server, with its call', async t => {
  const { app, lines } = await logged(
    t,
    tool({
      name: 'it',
      description: 'd',
      run: (_input, call) => {
        for (const level of ['debug', 'notice', 'warning', 'emergency'] as const) call.log(level, { said: level })
      }
    })
  )
  await callTool(app, 'it')
  t.strictSame(
    lines
      .filter(({ data }) => data !== undefined)
      .map(({ level, data, method }) => [level, (data as Json).said, method]),
    [
      [20, 'debug', 'tools/call'],
      [30, 'notice', 'tools/call'],
      [40, 'warning', 'tools/call'],
      [50, 'emergency', 'tools/call']
    ]
  )
})

t.test('data that cannot be written does not cost the caller its answer', async t => {
  const { app } = await logged(
    t,
    tool({
      name: 'it',
      description: 'd',
      run: (_input, call) => {
        call.log('error', { n: 1n })
        return 'ok'
      }
    })
  )
  const answer = await callTool(app, 'it', {}, { meta: { 'io.modelcontextprotocol/logLevel': 'debug' } })
  t.match(answer, { result: { content: [{ text: 'ok' }] } })
})

const ODD: Array<[what: string, data: unknown, sentData: unknown]> = [
  ['a cycle', cyclic(), inspect(cyclic())],
  ['a BigInt', 1n, '1n'],
  ['a BigInt inside', { n: 1n }, '{ n: 1n }'],
  [
    'an object that is not even text',
    Object.assign(Object.create(null) as object, { n: 1n }),
    '[Object: null prototype] { n: 1n }'
  ],
  ['nothing', undefined, 'undefined'],
  ['an error', new Error('no database'), 'no database'],
  ['null', null, null],
  ['data', { a: [1] }, { a: [1] }]
]

for (const [what, data, sentData] of ODD) {
  t.test(`a tool may log ${what}: its client gets a log message and the result`, async t => {
    const { app } = await logged(
      t,
      tool({
        name: 'it',
        description: 'd',
        run: (_input, call) => {
          call.log('error', data)
          return 'ok'
        }
      })
    )
    const { before, result } = await callTool(app, 'it', {}, { meta: { 'io.modelcontextprotocol/logLevel': 'debug' } })
    t.strictSame(before.map(({ params }) => params), [{ level: 'error', data: sentData }])
    t.match(result, { content: [{ text: 'ok' }] })
  })
}

t.test('an error that a tool logs is in the log of the server, with its stack', async t => {
  const { app, lines } = await logged(
    t,
    tool({
      name: 'it',
      description: 'd',
      run: (_input, call) => {
        call.log('critical', new Error('no database'))
      }
    })
  )
  await callTool(app, 'it')
  t.match(
    lines.find(({ err }) => err !== undefined),
    { level: 50, method: 'tools/call', err: { message: 'no database', stack: /faults\.test/ } }
  )
})
