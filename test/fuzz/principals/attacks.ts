import { call, callTool, notification } from '../../support/messages.js'
import { WHO, type Case, type Opening, type Head, type Line, type Step, type Who } from '../case.js'
import { eraOf } from '../openings.js'
import { openingOf, goodHead, isSocket } from './generate.js'
import { confide, retry, ANSWERS, PLACES, SHOWN, STREAM, UPGRADE, VISITS, type Say } from './seeds.js'

const OPENING: Opening = '2025-11-25'
const LINES: Line[] = ['session', 'modern', 'message', 'sse', 'websocket', 'ticketed']

const echo = callTool('echo', { text: '{{canary}}' }, 'same')
const say = (who: Who, line: Line, what: Say): Step => ({
  from: { who, line },
  bytes: Buffer.from(what(eraOf(openingOf(line, OPENING))))
})
const visit = (who: Who, head: Head, bytes = Buffer.alloc(0)): Step => ({ from: { who, line: 'message' }, head, bytes })
const pair = (steps: Step[], burst = false): Case => ({
  target: 'principals',
  opening: OPENING,
  steps,
  answers: ANSWERS.slice(0, 1),
  burst,
  cut: 0
})

function shown ({ method, path, headers }: Head, { headers: credential, query }: typeof SHOWN[number]): Head {
  const bare = headers.filter(([name]) => name !== 'authorization')
  return { method, path: query === undefined ? path : `${path}?${query}`, headers: [...bare, ...credential] }
}

/** What is tried in every run, before anything is left to chance: every credential, and every thing of another. */
export const ATTACKS = {
  credentials: SHOWN.map(credential => {
    const post = goodHead('message', OPENING, Buffer.alloc(0))
    const get = (...headers: Head['headers']): Head => ({
      method: 'GET',
      path: '/sse',
      headers: [['host', 'localhost'], ...headers]
    })
    return pair([
      ...WHO.map(who => visit(who, shown(post, credential), Buffer.from(echo('legacy')))),
      visit('bob', shown(get(STREAM), credential)),
      visit('bob', shown(get(STREAM), { headers: [], query: 'ticket={{spent}}' })),
      visit('bob', shown({ ...get(...UPGRADE), path: '/mcp' }, credential)),
      visit('bob', shown({ ...get(), path: '/health' }, credential))
    ])
  }),
  /** Bob uses his own key for what belongs to Ada. */
  visits: [
    ...VISITS.map(head =>
      pair([
        say('ada', 'session', confide('same')),
        visit('bob', shown(head, { headers: [['authorization', 'Bearer {{key}}']] })),
        say('ada', 'session', echo)
      ])
    ),
    ...LINES.flatMap(line =>
      PLACES[line].map(move => {
        const head = goodHead(line, OPENING, Buffer.from(echo('legacy')))
        move(head)
        return pair([
          say('ada', 'session', echo),
          say('ada', 'sse', echo),
          visit('bob', head, Buffer.from(echo('legacy')))
        ])
      })
    )
  ],
  /** Both send the same messages under the same ids at the same time, and Bob meddles. */
  collisions: LINES.flatMap(line => [
    pair(
      [
        say('ada', line, confide('same')),
        say('bob', line, confide('same')),
        say('ada', line, confide(7)),
        say('bob', line, confide(7))
      ],
      true
    ),
    pair(
      [
        say('ada', line, callTool('slow', { steps: 5, delay: 5 }, 'same')),
        say('bob', line, () => notification('notifications/cancelled', { requestId: 'same' })),
        say('bob', line, () => notification('notifications/cancelled', { requestId: 'same' }))
      ],
      true
    ),
    pair(
      [
        say('ada', line, call('tools/call', { name: 'ask_about', arguments: { text: '{{canary}}' } }, 'same')),
        ...[0, 1, 2].map(id =>
          say(
            'bob',
            line,
            () => `{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"name":"{{canary}}"}}}`
          )
        )
      ],
      true
    )
  ]),
  notes: LINES.map(line =>
    pair([
      ...(line === 'modern'
        ? [
            say(
              'bob',
              line,
              call(
                'subscriptions/listen',
                {
                  notifications: {
                    resourcesListChanged: true,
                    resourceSubscriptions: ['note:///1', 'note:///2', 'note:///3']
                  }
                },
                'listen'
              )
            )
          ]
        : []),
      say('ada', line, callTool('add_note', { content: '{{canary}}' }, 1)),
      say('bob', line, call('resources/subscribe', { uri: 'note:///{{their_note}}' }, 2)),
      say('bob', line, call('resources/read', { uri: 'note:///{{their_note}}' }, 3)),
      say('bob', line, callTool('get_notes', {}, 4)),
      say('bob', line, call('resources/list', {}, 5)),
      say('bob', line, callTool('delete_note', { id: '{{their_note}}', confirm: true }, 6)),
      say('bob', line, callTool('add_note', { content: '{{canary}}' }, 7)),
      say('ada', line, callTool('delete_note', { id: '{{note}}', confirm: true }, 8)),
      say('bob', line, echo)
    ])
  ),
  scopes: LINES.map(line =>
    pair(
      [
        callTool('vault'),
        call('resources/read', { uri: 'vault://text' }),
        call('prompts/get', { name: 'vault' }),
        call('tools/list'),
        call('prompts/list'),
        call('resources/list'),
        call('completion/complete', {
          ref: { type: 'ref/prompt', name: 'vault' },
          argument: { name: 'who', value: '' }
        })
      ].map(what => say('bob', line, what))
    )
  ),
  /** Cursors and request states are good for their caller only. */
  seals: LINES.map(line =>
    pair([
      ...(isSocket(line) || line === 'modern' ? [say('ada', line, era => confide('same', 'ask_about')(era))] : []),
      say('ada', line, call('tools/list', {}, 'list')),
      say('bob', line, call('tools/list', { cursor: '{{their_cursor}}' }, 'list')),
      ...(line === 'modern' ? [say('bob', line, retry('{{their_state}}')), say('ada', line, retry('{{state}}'))] : [])
    ])
  )
} satisfies Record<string, Case[]>
