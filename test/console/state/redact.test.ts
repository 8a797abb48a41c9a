import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { itemsOf, lists } from '../../../console/state/lists.js'
import { asLines, MessageLog, messages, type Message, shownMessage } from '../../../console/state/messages.js'
import { redact, redactSecrets, secretPathsOf } from '../../../console/state/redact.js'

const schema = {
  type: 'object',
  properties: {
    user: { type: 'string' },
    pin: { type: 'string', format: 'password' },
    deep: {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { seed: { type: 'string', writeOnly: true } } } }
      }
    }
  }
}

t.test('secret fields and keys are redacted wherever they are, and nothing else', async t => {
  t.strictSame(
    redact({
      headers: { Authorization: 'x', 'X-API-Key': 'y', accept: 'z' },
      list: [{ password: 1, code: 'abc' }],
      error: { code: -32602, data: { code: 'PATCHBAY_UNKNOWN_TOOL' } },
      text: 'use pb_abcdefghijkl and Bearer abcdefghijkl now'
    }),
    {
      headers: { Authorization: '[redacted]', 'X-API-Key': '[redacted]', accept: 'z' },
      list: [{ password: '[redacted]', code: '[redacted]' }],
      error: { code: -32602, data: { code: 'PATCHBAY_UNKNOWN_TOOL' } },
      text: 'use [redacted] and Bearer [redacted] now'
    }
  )
})

t.test('a schema says which fields are secret, at any depth', async t => {
  const params = { name: 'x', arguments: { user: 'u', pin: '1234', token: 'kept', deep: { list: [{ seed: 's' }] } } }
  t.strictSame(secretPathsOf(params.arguments, schema), ['/pin', '/deep/list/0/seed'])
  t.strictSame(redactSecrets(params, schema), {
    name: 'x',
    arguments: { user: 'u', pin: '[redacted]', token: 'kept', deep: { list: [{ seed: '[redacted]' }] } }
  })
})

const secret = { type: 'string', writeOnly: true }
const rows: Array<[string, Json, Json, string[]]> = [
  ['a reference', { properties: { a: { $ref: '#/$defs/s' } }, $defs: { s: secret } }, { a: 'x', b: 'y' }, ['/a']],
  ['anyOf', { properties: { a: { anyOf: [{ type: 'null' }, secret] } } }, { a: 'x' }, ['/a']],
  ['oneOf', { oneOf: [{ properties: { a: secret } }, { properties: { b: {} } }] }, { a: 'x', b: 'y' }, ['/a']],
  ['allOf', { allOf: [{ properties: { a: secret } }, { properties: { b: {} } }] }, { a: 'x', b: 'y' }, ['/a']],
  [
    'a condition',
    { if: { required: ['a'] }, then: { properties: { a: secret } }, else: { properties: { b: secret } } },
    { a: 'x', b: 'y', c: 'z' },
    ['/a', '/b']
  ],
  ['additionalProperties', { properties: { b: {} }, additionalProperties: secret }, { a: 'x', b: 'y' }, ['/a']],
  ['patternProperties', { patternProperties: { '^s_': secret, '^b+$': {} } }, { s_a: 'x', b: 'y' }, ['/s_a']],
  ['prefixItems', { properties: { a: { prefixItems: [{}, secret], items: {} } } }, { a: ['x', 'y', 'z'] }, ['/a/1']],
  ['items', { properties: { a: { items: secret } } }, { a: ['x', 'y'] }, ['/a/0', '/a/1']],
  [
    'itself',
    { properties: { a: secret, next: { $ref: '#' } }, anyOf: [{ $ref: '#' }] },
    JSON.parse('{"next":'.repeat(20) + '{"a":"x"}' + '}'.repeat(20)),
    ['/next'.repeat(20) + '/a']
  ],
  [
    'a name with a slash',
    { properties: { 'a/b': secret, a: { properties: { b: {} } } } },
    { 'a/b': 'x', a: { b: 'y' } },
    ['/a~1b']
  ]
]

for (const [name, schema, value, paths] of rows) {
  t.test(`a schema says which fields are secret: ${name}`, async t => {
    t.strictSame(secretPathsOf(value, schema), paths)
    const shown = JSON.stringify(redactSecrets({ name: 'x', arguments: value }, schema))
    t.equal(shown.split('[redacted]').length - 1, paths.length)
  })
}

t.test('where a schema has too many parts to look at, nothing is shown', async t => {
  const schema: Json = { allOf: Array.from({ length: 30_000 }, () => ({})), properties: { a: secret } }
  t.strictSame(redactSecrets({ name: 'x', arguments: { a: 'x' } }, schema), { name: 'x', arguments: '[redacted]' })
  t.strictSame(redactSecrets({ name: 'x' }, schema), { name: 'x' })
})

t.test(
  'shown and exported messages are redacted by the schema of their tool, also when it is not listed any more',
  async t => {
    lists.tool.value = { state: 'ready', items: itemsOf([{ name: 'login', inputSchema: schema }], 'tool') }
    t.teardown(() => {
      lists.tool.value = { state: 'loading', items: [] }
    })
    const log = new MessageLog(run => run())
    log.add(
      'sent',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'login', arguments: { user: 'u', pin: 'CANARY' } }
      },
      1
    )
    lists.tool.value = { state: 'ready', items: [] }
    const [message] = messages.value as [Message]
    t.notMatch(shownMessage(message), /CANARY/)
    t.match(asLines([message, message]), /^\{"at":"\d.*","direction":"sent","message":.*"user":"u".*\}\n\{.*\}\n$/)
    t.notMatch(asLines([message]), /CANARY/)
  }
)

t.test(
  'answers to questions are redacted by the schema of their question, and calls again by that of the call before',
  async t => {
    const log = new MessageLog(run => run())
    t.teardown(() => {
      lists.tool.value = { state: 'loading', items: [] }
    })
    const content = { user: 'u', pin: 'CANARY' }
    log.add(
      'received',
      { jsonrpc: '2.0', id: 7, method: 'elicitation/create', params: { message: 'm', requestedSchema: schema } },
      1
    )
    log.add('sent', { jsonrpc: '2.0', id: 7, result: { action: 'accept', content } }, 1)
    const other = { type: 'object', properties: { pin: { type: 'string' } } }
    for (const requestedSchema of [schema, other]) {
      log.add(
        'received',
        {
          jsonrpc: '2.0',
          id: 1,
          result: {
            resultType: 'input_required',
            inputRequests: { 'a/b': { method: 'elicitation/create', params: { requestedSchema } } }
          }
        },
        1
      )
    }
    log.add(
      'sent',
      {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'x', inputResponses: { 'a/b': { action: 'accept', content } } }
      },
      1
    )
    lists.tool.value = { state: 'ready', items: itemsOf([{ name: 'login', inputSchema: schema }], 'tool') }
    for (const id of [3, 4]) {
      log.add('sent', { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'login', arguments: content } }, 1)
      lists.tool.value = { state: 'ready', items: [] }
    }
    t.equal(asLines(messages.value).match(/"user":"u","pin":"\[redacted\]"/g)?.length, 4)
    t.notMatch(asLines(messages.value), /CANARY/)
  }
)
