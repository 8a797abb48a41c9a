import t from 'tap'
import type { Client, JsonObject } from '../../../console/client/contract.js'
import { calls, forgetCalls, restoreCalls, startCall, type Call } from '../../../console/state/calls.js'
import { MAX_STORED, parseCalls, toStoredText, withoutRedacted } from '../../../console/state/stored-calls.js'
import { until } from '../../support/wait.js'

const SCHEMA = { type: 'object', properties: { pin: { type: 'string', format: 'password' } } }

async function ended (args: JsonObject, result: JsonObject): Promise<Call> {
  const client: Client = {
    era: 'modern',
    server: { name: 's', version: '1', revision: 'r', capabilities: {} },
    request: async () => result,
    onNotification: () => () => {},
    subscribe: async () => () => {}
  }
  const call = startCall(client, {
    kind: 'tool',
    key: 'x',
    method: 'tools/call',
    params: { name: 'x', arguments: args },
    inputSchema: SCHEMA
  })
  await until(() => call.outcome.value !== undefined)
  return call
}

t.beforeEach(forgetCalls)

t.test('calls survive a reload, without what may be secret', async t => {
  await ended({ text: 'hello' }, { content: [{ type: 'text', text: 'world' }] })
  await ended(
    { pin: 'four-digits', password: 'hunter2', text: 'pb_abcdefghijkl' },
    { structuredContent: { access_token: 'abc' } }
  )
  const text = toStoredText(calls.value)
  for (const secret of ['four-digits', 'hunter2', 'pb_abcdefghijkl', '"abc"']) t.notMatch(text, secret)
  const last = calls.value[0]?.id ?? 0
  forgetCalls()
  restoreCalls(parseCalls(text))
  t.match(
    calls.value.map(({ isRedacted, params, outcome }) => ({ isRedacted, params, outcome: outcome.value })),
    [
      { isRedacted: true, params: { arguments: { pin: '[redacted]' } } },
      {
        isRedacted: undefined,
        params: { arguments: { text: 'hello' } },
        outcome: { type: 'result', result: { content: [{ text: 'world' }] } }
      }
    ]
  )
  t.strictSame(
    withoutRedacted(calls.value[0]?.params.arguments ?? null),
    {},
    'what was not kept is not sent in its place'
  )
  t.equal((await ended({}, {})).id, last + 1, 'numbers go on')
})

t.test('of many calls the newest are kept, and of a long result only that there was one', async t => {
  for (let count = 0; count < MAX_STORED + 5; count++) await ended({ count }, { content: [] })
  await ended({}, { isError: true, content: [{ type: 'text', text: 'x'.repeat(300_000) }] })
  const stored = parseCalls(toStoredText(calls.value))
  t.equal(stored.length, MAX_STORED)
  t.match(stored[0], { outcome: { type: 'left-out', failed: true } })
  forgetCalls()
  for (let count = 0; count < 20; count++) await ended({}, { content: [{ type: 'text', text: 'x'.repeat(150_000) }] })
  t.ok(toStoredText(calls.value).length <= 1_500_100)
})

t.test('what another page wrote is left out', async t => {
  for (const text of [
    undefined,
    '',
    '{',
    '{}',
    '[1, null, {"id": 1}, {"id":1,"kind":"other","key":"","method":"","startedAt":1,"endedAt":1,"params":{},"outcome":{}}]'
  ]) {
    t.strictSame(parseCalls(text), [])
  }
})
