import { call, callTool, modernMeta, notification, type Era } from '../../support/messages.js'
import type { Head, Line } from '../case.js'

export type Say = (era: Era) => string
const same = (text: string): Say => () => text

const LISTEN = {
  notifications: {
    resourcesListChanged: true,
    toolsListChanged: true,
    resourceSubscriptions: ['note:///1', 'note:///{{note}}', 'note:///{{their_note}}', 'vault://text']
  }
}
/** A call whose text comes back as progress, in the log, as a question or as the result. */
export const confide =
  (id: unknown, name = 'confide'): Say =>
    era =>
      era === 'legacy'
        ? call('tools/call', { name, arguments: { text: '{{canary}}' }, _meta: { progressToken: 'same' } }, id)(era)
        : JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: {
            name,
            arguments: { text: '{{canary}}' },
            _meta: {
              ...modernMeta(undefined, { elicitation: {} }),
              'io.modelcontextprotocol/logLevel': 'debug',
              progressToken: 'same'
            }
          }
        })

/** The second try of a call that asked something. */
export const retry =
  (state: string): Say =>
    era =>
      era === 'modern'
        ? JSON.stringify({
          jsonrpc: '2.0',
          id: 'same',
          method: 'tools/call',
          params: {
            name: 'ask_about',
            arguments: { text: '{{canary}}' },
            requestState: state,
            inputResponses: { about: { action: 'accept', content: { name: '{{canary}}' } } },
            _meta: modernMeta(undefined, { elicitation: {} })
          }
        })
        : callTool('ask_about', { text: '{{canary}}' }, 'same')(era)

/** Ids collide on purpose: both callers use the same few. */
const messages: Say[] = [
  ...['same', 7, 0].flatMap(id => [
    callTool('echo', { text: '{{canary}}' }, id),
    confide(id),
    confide(id, 'ask_about'),
    callTool('slow', { steps: 2, delay: 2 }, id)
  ]),
  ...['1', '{{note}}', '{{their_note}}'].flatMap(id => [
    call('resources/read', { uri: `note:///${id}` }, 'same'),
    call('resources/subscribe', { uri: `note:///${id}` }, 7),
    call('resources/unsubscribe', { uri: `note:///${id}` }, 7),
    callTool('delete_note', { id, confirm: true }, 7)
  ]),
  ...[1, 2, 3, 4].map(id => callTool('add_note', { content: '{{canary}}', tags: ['{{canary}}', 'a'] }, id)),
  callTool('get_notes', {}, 'same'),
  callTool('get_notes', { tags: ['{{canary}}'], limit: 3 }),
  callTool('summarize_notes', { limit: 5 }),
  call('resources/list', {}, 'same'),
  call('resources/list', { cursor: '{{cursor}}' }),
  call('resources/list', { cursor: '{{their_cursor}}' }),
  call('tools/list', {}, 'same'),
  call('tools/list', { cursor: '{{their_cursor}}' }),
  call('prompts/list'),
  call('prompts/get', { name: 'vault' }),
  callTool('vault', {}, 'same'),
  call('resources/read', { uri: 'vault://text' }),
  call('resources/subscribe', { uri: 'vault://text' }),
  call('completion/complete', { ref: { type: 'ref/prompt', name: 'vault' }, argument: { name: 'who', value: '' } }),
  call('completion/complete', {
    ref: { type: 'ref/resource', uri: 'note:///{id}' },
    argument: { name: 'id', value: '' }
  }),
  call('subscriptions/listen', LISTEN, 'same'),
  call('subscriptions/listen', LISTEN, 'listen'),
  call('logging/setLevel', { level: 'debug' }, 'same'),
  callTool('increment_counter', { amount: 1 }),
  retry('{{state}}'),
  retry('{{their_state}}'),
  ...['same', 7, 0].map(requestId =>
    same(notification('notifications/cancelled', { requestId, reason: '{{canary}}' }))
  ),
  same(notification('notifications/progress', { progressToken: 'same', progress: 1 })),
  // Answers to questions that another caller was asked.
  ...[0, 1, 2].map(id =>
    same(JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: '{{canary}}' } } }))
  )
]

export const MESSAGES: Record<Era, Buffer[]> = {
  legacy: messages.map(say => Buffer.from(say('legacy'))),
  modern: messages.map(say => Buffer.from(say('modern')))
}

export const ANSWERS = [
  '"result":{"action":"accept","content":{"name":"{{canary}}"}}',
  '"result":{"action":"decline"}',
  '"error":{"code":-32601,"message":"{{canary}}"}'
].map(outcome => Buffer.from(`{"jsonrpc":"2.0","id":{{id}},${outcome}}`))

export const STREAM: [string, string] = ['accept', 'text/event-stream']
export const UPGRADE: Head['headers'] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ==']
]
const visit = (method: string, path: string, ...headers: Head['headers']): Head => ({
  method,
  path,
  headers: [['host', '127.0.0.1'], ...headers]
})
const inSession = (id: string): [string, string] => ['mcp-session-id', id]

/** Requests without a body, to what is one's own and to what is another's. */
export const VISITS: Head[] = [
  ...['{{session}}', '{{their_session}}'].flatMap(id => [
    visit('GET', '/mcp', STREAM, inSession(id)),
    visit('GET', '/mcp', STREAM, inSession(id), ['last-event-id', '{{event}}']),
    visit('GET', '/mcp', STREAM, inSession(id), ['last-event-id', '{{their_event}}']),
    visit('GET', '/mcp/sse', STREAM, inSession(id)),
    visit('GET', '/mcp/sse', STREAM, ['x-session-id', id], ['last-event-id', '{{their_event}}']),
    visit('DELETE', '/mcp', inSession(id))
  ]),
  visit('GET', '/mcp', STREAM, inSession('{{session}}'), ['x-session-id', '{{their_session}}']),
  visit('GET', '/sse', STREAM),
  visit('GET', '/mcp/sse', STREAM),
  visit('POST', '/ticket'),
  visit('GET', '/health'),
  visit('OPTIONS', '/mcp', ['origin', 'http://localhost'], ['access-control-request-method', 'POST']),
  visit('GET', '/mcp', ...UPGRADE),
  visit('GET', '/mcp/', ...UPGRADE)
]

/** Addresses where a message may be posted that belongs elsewhere. */
export const PLACES: Record<Line, Array<(head: Head) => void>> = {
  session: [
    head => {
      rename(head, '{{session}}', '{{their_session}}')
    },
    head => {
      head.headers.push(['x-session-id', '{{their_session}}'])
    },
    head => {
      head.path = '/mcp/'
    }
  ],
  modern: [
    head => {
      head.headers.push(['mcp-session-id', '{{their_session}}'])
    }
  ],
  message: [
    head => {
      head.path = '/message?sessionId={{their_session}}'
    },
    head => {
      head.path = '{{their_endpoint}}'
    },
    head => {
      head.headers.push(['mcp-session-id', '{{their_session}}'])
    }
  ],
  sse: [
    head => {
      head.path = '{{their_endpoint}}'
    }
  ],
  websocket: [],
  ticketed: []
}

const bearer = (text: string): Head['headers'] => [['authorization', text]]
/** How a credential is shown: the first ones are right. */
export const SHOWN: Array<{ headers: Head['headers'], query?: string }> = [
  { headers: bearer('Bearer {{key}}') },
  { headers: bearer('bearer   {{key}}') },
  { headers: [['x-api-key', '{{key}}']] },
  { headers: bearer('Bearer {{their_key}}') },
  { headers: [], query: 'ticket={{ticket}}' },
  { headers: [['sec-websocket-protocol', 'mcp, ticket.{{ticket}}']] },
  { headers: [] },
  { headers: [], query: 'ticket={{spent}}' },
  { headers: [], query: 'ticket={{key}}' },
  { headers: [], query: 'ticket={{ticket}}&ticket={{their_ticket}}' },
  { headers: bearer('Bearer {{ticket}}') },
  { headers: bearer('Bearer {{key}}'), query: 'ticket={{their_ticket}}' },
  ...['wrong_key', 'short_key', 'long_key', 'upper_key', 'huge_key', 'hash', 'digest'].flatMap(name => [
    { headers: bearer(`Bearer {{${name}}}`) },
    { headers: [['x-api-key', `{{${name}}}`] as [string, string]] }
  ]),
  ...[
    '',
    'Bearer',
    'Bearer ',
    '{{key}}',
    'Basic {{key}}',
    'Bearer {{key}},{{their_key}}',
    'Bearer {{key}} x',
    'Bearer "{{key}}"',
    'Bearer\t{{key}}',
    'Bearer {{key}}\u0000',
    'Bearer é',
    'Bearer null',
    'Bearer undefined',
    'Bearer __proto__'
  ].map(text => ({ headers: bearer(text) })),
  { headers: [...bearer('Bearer {{key}}'), ...bearer('Bearer {{key}}')] },
  { headers: [...bearer('Bearer {{key}}'), ...bearer('Bearer {{their_key}}')] },
  { headers: [...bearer('Bearer {{key}}'), ['x-api-key', '{{their_key}}']] },
  {
    headers: [
      ['x-api-key', '{{key}}'],
      ['X-API-KEY', '{{wrong_key}}']
    ]
  },
  ...['access_token', 'api_key', 'apikey', 'token'].flatMap(name => [
    { headers: [], query: `${name}={{key}}` },
    { headers: bearer('Bearer {{key}}'), query: `${name}={{their_key}}` }
  ]),
  { headers: [['cookie', 'authorization=Bearer {{key}}']] },
  { headers: [['proxy-authorization', 'Bearer {{key}}']] },
  {
    headers: [
      ['x-forwarded-for', '127.0.0.1'],
      ['forwarded', 'for=127.0.0.1'],
      ['via', '1.1 x']
    ]
  }
]

function rename (head: Head, from: string, to: string): void {
  head.headers = head.headers.map(([name, value]) => [name, value.replace(from, to)])
}
