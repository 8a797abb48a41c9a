import t, { type Test } from 'tap'
import { createClient } from '../../app.js'
import { modern } from '../../protocol/revisions/table.js'
import { gateway } from '../support/gateway.js'
import { cpuTime } from '../support/timing.js'
import { until } from '../support/wait.js'
import { decode } from '../../protocol/wire/jsonrpc.js'
import { upstreamLimits } from '../../protocol/wire/limits.js'
import { resultOf, sendJson, startRawServer, type Got } from '../transports/client/raw-server.js'

const MiB = 1024 * 1024
const COMMON = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }

/** A modern HTTP server with tools that answer as `call` says. */
async function start (t: Test, call: (got: Got) => boolean, names = ['big']): Promise<string> {
  const { url } = await startRawServer(t, got => {
    if (got.message.method === 'server/discover') {
      return sendJson(
        got,
        resultOf(got, { ...COMMON, supportedVersions: [modern.version], capabilities: { tools: {} } })
      )
    }
    if (got.message.method === 'tools/list') {
      return sendJson(
        got,
        resultOf(got, { ...COMMON, tools: names.map(name => ({ name, inputSchema: { type: 'object' } })) })
      )
    }
    return got.message.method === 'tools/call'
      ? call(got)
      : sendJson(got, { jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'Method not found' } }, 404)
  })
  return url
}

const result = (got: Got, more: object = {}): object => resultOf(got, { ...COMMON, content: [], ...more })

for (const limits of [{ maxUpstreamBytes: 2 * MiB }, { maxAllUpstreamBytes: 2 * MiB }]) {
  t.test(`many large results of one caller at once are all answered, with ${JSON.stringify(limits)}`, async t => {
    const text = 'x'.repeat(2 * MiB)
    let waiting: Got[] = []
    const url = await start(t, got => {
      waiting.push(got)
      // All are on their way before one of them is complete.
      if (waiting.length === 8) {
        for (const each of waiting) sendJson(each, result(each, { content: [{ type: 'text', text }] }))
        waiting = []
      }
      return true
    })
    const app = await gateway(t, {
      tools: false,
      plugins: [],
      ephemeral: true,
      limits,
      mcpServers: { up: { type: 'http', url } }
    })
    await until(() => app.mcp.tools.get('up__big') !== undefined, 'the tool')
    const client = await createClient(app)
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await client.call('up__big')))
    t.ok(answers.every(answer => answer.text === text))
  })
}

t.test('a result may have as many values as a request, and a list more', async t => {
  const names = Array.from({ length: 60 }, (_, index) => `tool_${index}`)
  const url = await start(
    t,
    got =>
      sendJson(
        got,
        result(got, {
          structuredContent: {
            all: Array.from(
              { length: Number((got.message.params?.['arguments'] as { count: number }).count) },
              () => ({})
            )
          }
        })
      ),
    names
  )
  const app = await gateway(t, {
    tools: false,
    plugins: [],
    ephemeral: true,
    limits: { maxUpstreamValues: 100, maxUpstreamListValues: 1_000 },
    mcpServers: { up: { type: 'http', url } }
  })
  await until(() => app.mcp.tools.get('up__tool_59') !== undefined, 'the list, which has more than 100 values')
  const client = await createClient(app)
  t.equal(((await client.call('up__tool_0', { count: 50 })).output as { all: unknown[] }).all.length, 50)
  await t.rejects(client.call('up__tool_0', { count: 200 }), {
    message: /up failed: its answer cannot be read: .*at most 100 .*\(limit maxUpstreamValues\)/
  })
})

t.test('a message of an upstream that has too much is refused with the option that bounds it', async t => {
  const wrong = (text: string, option?: 'maxUpstreamListValues'): string => {
    const message = decode(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${text}}`), upstreamLimits(100, option))
    return message.kind === 'invalid' ? message.error.message : 'none'
  }
  const keys = `{${Array.from({ length: 200 }, (_, index) => `"k${index}":1`).join()}}`
  t.match(wrong(`[${'1,'.repeat(200)}1]`), /100 values.*\(limit maxUpstreamValues\)$/)
  t.match(wrong(`[${'1,'.repeat(200)}1]`, 'maxUpstreamListValues'), /\(limit maxUpstreamListValues\)$/)
  t.match(wrong(keys), /\(limit maxUpstreamValues\)$/)
  t.match(wrong(`${'['.repeat(300)}${']'.repeat(300)}`), /(deeper than 256 levels|\(limit maxUpstreamValues\))$/)
})

t.test('what a result costs at most is near to what a request does', async t => {
  const bytes = (values: number): Buffer =>
    Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"all":[${'{},'.repeat(values - 1)}{}]}}`)
  const [many, most] = [bytes(990_000), bytes(99_000)]
  let refused = Infinity
  let read = Infinity
  for (let count = 0; count < 5; count++) {
    refused = Math.min(refused, cpuTime(() => { decode(many, upstreamLimits(100_000)) }))
    read = Math.min(read, cpuTime(() => { decode(most, upstreamLimits(100_000)) }))
  }
  let before = 0
  for (let count = 0; count < 3; count++) {
    before = Math.max(
      before,
      cpuTime(() => {
        decode(many, upstreamLimits(1_000_000))
      })
    )
  }
  t.ok(refused < before / 2, `${refused} ms, ${before} ms with the limit of lists`)
  t.ok(read < before / 2, `${read} ms`)
})
