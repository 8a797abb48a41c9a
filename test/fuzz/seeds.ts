import { call, callTool, initialize, modernMeta, nested, notification, type Era } from '../support/messages.js'
import { REVISIONS } from './openings.js'

type Say = (era: Era) => string
const same = (text: string): Say => () => text
const both = (text: string): Say => era => call('ping', {}, 'q')(era).replace('"q"', text)

/** Good requests: one for every method, tool and way to be asked. */
const requests: Say[] = [
  call('ping'),
  call('tools/list'),
  call('tools/list', { cursor: '{{cursor}}' }, 'c'),
  call('resources/list', {}, 0),
  call('resources/templates/list'),
  call('prompts/list'),
  call('server/discover'),
  call('logging/setLevel', { level: 'debug' }),
  call('resources/subscribe', { uri: 'test://text' }),
  call('resources/unsubscribe', { uri: 'test://text' }),
  ...['test://text', 'test://bytes', 'test://item/one', 'note:///1', 'server://status'].map(uri =>
    call('resources/read', { uri }, 'r')
  ),
  call('prompts/get', { name: 'introduce', arguments: { who: 'Ada' } }, 3),
  call('prompts/get', { name: 'greeting', arguments: { name: 'Ada', style: 'formal' } }),
  call('prompts/get', { name: 'analyze_system' }),
  call('completion/complete', {
    ref: { type: 'ref/prompt', name: 'introduce' },
    argument: { name: 'who', value: 'A' }
  }),
  call('completion/complete', {
    ref: { type: 'ref/resource', uri: 'test://item/{id}' },
    argument: { name: 'id', value: 't' },
    context: { arguments: {} }
  }),
  call(
    'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['test://text'] } },
    'listen'
  ),
  callTool('echo', { text: 'é🦉' }, 'e'),
  callTool('calculate', { operation: 'divide', a: 1, b: 0 }, 5),
  callTool('calculate', { operation: 'add', a: 1e308, b: 1e308 }),
  callTool('slow', { steps: 2, delay: 1 }),
  callTool('boom'),
  callTool('refuse'),
  callTool('ask_name', {}, 'ask'),
  callTool('ask_model', {}, 'model'),
  callTool('ask_roots', {}, 'roots'),
  callTool('list_roots'),
  callTool('every_block'),
  callTool('say', { level: 'info', text: 'x' }),
  callTool('add_note', { content: 'x', tags: ['a', 'b'] }),
  callTool('get_notes', { tags: ['a'], limit: 3 }),
  callTool('delete_note', { id: '1', confirm: true }),
  callTool('summarize_notes', { limit: 2 }),
  callTool('increment_counter', { amount: 2 }),
  callTool('get_current_time', { timeZone: 'Europe/Rome' }),
  callTool('health_check'),
  callTool('long_running_task', { steps: 2, delay: 0 }),
  call('tools/call', { name: 'slow', arguments: { steps: 3, delay: 1 }, _meta: { progressToken: 'p' } }),
  era =>
    era === 'modern'
      ? JSON.stringify({
        jsonrpc: '2.0',
        id: 'again',
        method: 'tools/call',
        params: {
          name: 'ask_name',
          arguments: {},
          requestState: '{{state}}',
          inputResponses: { user_name: { action: 'accept', content: { name: 'Ada' } } },
          _meta: modernMeta(undefined, { elicitation: {} })
        }
      })
      : callTool('ask_name')(era),
  era =>
    callTool(
      'ask_name',
      {},
      'first'
    )(era).replace('Capabilities":{}', 'Capabilities":{"elicitation":{},"sampling":{},"roots":{}}')
]

/** Everything else that is a message, and what only looks like one: rows of the catalogue of bad input. */
const others: Say[] = [
  ...REVISIONS.map(version =>
    same(initialize(version, { roots: { listChanged: true }, sampling: {}, elicitation: {} }))
  ),
  same(initialize('banana')),
  same('{"jsonrpc":"2.0","id":1,"method":"initialize"}'),
  ...['notifications/initialized', 'notifications/roots/list_changed', 'initialized', 'notifications/frobnicated'].map(
    method => same(notification(method))
  ),
  same(notification('notifications/cancelled', { requestId: 7, reason: 'x' })),
  same(notification('notifications/progress', { progressToken: 1, progress: 1 })),
  ...['"result":{}', '"error":{"code":1,"message":"x"}', '"error":"x"', '"result":{"roots":[{"uri":"file:///x"}]}'].map(
    outcome => same(`{"jsonrpc":"2.0","id":1,${outcome}}`)
  ),
  ...[
    '42',
    '"x"',
    'null',
    'true',
    '{}',
    '[]',
    '[1,2,3]',
    '[[]]',
    '{"jsonrpc":"2.0","id":1',
    '',
    ' \n',
    '{"jsonrpc":"2.0","id":7,"method":"ping",}',
    "{'jsonrpc':'2.0'}",
    '{"jsonrpc":"2.0","id":7,"method":"ping"} x'
  ].map(same),
  ...['null', '{}', '1.5', '1e400', '9007199254740993', '""', '0', '-1', '-0', '1e3', `"${'i'.repeat(300)}"`].map(both),
  same(`[${['a', 'b'].map(id => call('ping', {}, id)('legacy')).join(',')},${notification('x')}]`),
  same(`[${call('ping')('legacy')},${call('ping')('legacy')},1]`),
  same(`[${callTool('slow', {}, 's')('legacy')},${callTool('boom', {}, 'b')('legacy')}]`),
  era => `\ufeff${call('ping')(era)}`,
  same('\ufeff'),
  same('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'),
  same(`[${callTool('slow', {}, 7)('legacy')},${callTool('slow', {}, 7)('legacy')}]`),
  same(nested(65)),
  same(nested(5_000)),
  same(`{"jsonrpc":"2.0","id":7,"method":"ping","params":${nested(62, '{"a":', '}').replace('}', '1}')}}`),
  era => callTool('echo', { text: 'x' })(era).replace('"text":"x"', '"text":"x","__proto__":{"polluted":1}'),
  era => callTool('echo', { text: 'x' })(era).replace('"x"', '1e400'),
  era => call('ping', {}, 7)(era).replace('"params":{', '"params":{"constructor":{"prototype":{}},')
]

/** Answers to questions, from the right answer to none at all. */
export const ANSWERS = [
  '"result":{"action":"accept","content":{"name":"Ada"}}',
  '"result":{"action":"decline"}',
  '"result":{"action":"cancel","content":null}',
  '"result":{"action":"accept","content":{"confirm":true}}',
  '"result":{"role":"assistant","model":"m","content":{"type":"text","text":"Paris"}}',
  '"result":{"role":"assistant","model":"m","content":[{"type":"text","text":"Paris"}]}',
  '"result":{"roots":[{"uri":"file:///x","name":"x"}]}',
  '"result":{"roots":[]}',
  '"result":{}',
  '"error":{"code":-32601,"message":"no"}',
  '"error":{"code":1,"message":"","data":{"max":1}}'
].map(outcome => Buffer.from(`{"jsonrpc":"2.0","id":{{id}},${outcome}}`))

const written = (era: Era) => [...requests, ...requests, ...requests, ...others].map(say => Buffer.from(say(era)))

/** Good requests three times as often as the rest: most of what is interesting is close to them. */
export const SEEDS: Record<Era, Buffer[]> = { legacy: written('legacy'), modern: written('modern') }
