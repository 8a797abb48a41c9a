import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { environment } from '../support/environment/display.js'
import { service } from '../support/environment/search-service.js'
import { post } from '../support/http-requests.js'
import { call, callTool } from '../support/messages.js'
import { answered, brokenArguments, tryRows, variants, type Expected, type Row } from '../support/rows.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { bestTime, timeOf } from '../support/timing.js'

const failed = answered('isError id 7')
const unknownResource = answered('-32002 id 7', '-32602 id 7')
const KEYS = [
  '../x',
  '__proto__',
  'constructor',
  '..%2fx',
  '%2e%2e/x',
  '1/../../x',
  '1\0',
  '-1',
  '01',
  '1e3',
  '9'.repeat(2_000)
]
const CRLF = [
  'a\r\nHost: evil.com\r\n\r\nGET /evil HTTP/1.1',
  'a\nX-Injected: 1',
  'a\r\n\r\n',
  '\u560a\u560dX-Injected: 1'
]

const noteRows: Row[] = [
  ...variants(
    KEYS.map(id => ({
      row: 'D35',
      title: `deleting the note ${brief(id)}`,
      input: callTool('delete_note', { id, confirm: true }),
      expect: failed
    }))
  ),
  ...variants(
    KEYS.map(id => ({
      row: 'D35',
      title: `reading the note ${brief(id)}`,
      input: call('resources/read', { uri: `note:///${id}` }),
      expect: unknownResource
    }))
  ),
  {
    row: 'D35',
    title: 'a note of a megabyte',
    input: callTool('add_note', { content: 'x'.repeat(1_000_000) }),
    expect: brokenArguments()
  },
  {
    row: 'D35',
    title: 'a note that is one character too long',
    input: callTool('add_note', { content: 'x'.repeat(65_537) }),
    expect: brokenArguments()
  },
  {
    row: 'D35',
    title: 'a tag called __proto__ is only a tag',
    input: callTool('get_notes', { tags: ['__proto__', '../x'] }),
    expect: answered('ok id 7')
  }
]

/** Without a display the clipboard itself gives the error, in the form of the revision. */
const noDisplay: Expected = {
  ...failed,
  message: '200 -32001 id 7',
  sse: '202 -32001 id 7',
  'session 2025-06-18': '200 -32001 id 7',
  'websocket 2025-06-18': '-32001 id 7'
}

const clipboardRows: Row[] = [
  { row: 'D37', title: 'reading the clipboard without a display', input: callTool('get_clipboard'), expect: noDisplay },
  {
    row: 'D37',
    title: 'writing the clipboard without a display',
    input: callTool('set_clipboard', { text: 'x' }),
    expect: noDisplay
  },
  {
    row: 'D37',
    title: 'a text that is too long for the clipboard',
    input: callTool('set_clipboard', { text: 'x'.repeat(1_048_577) }),
    expect: brokenArguments()
  },
  {
    row: 'D37',
    title: 'a text with a NUL',
    input: callTool('set_clipboard', { text: 'a\0b' }),
    expect: brokenArguments()
  }
]

t.test('keys and texts of notes are only text, up to a limit', async t => {
  const home = await mkdtemp(join(tmpdir(), 'patchbay-'))
  t.teardown(async () => await rm(home, { recursive: true, force: true }))
  await tryRows(t, await startServer(t, { data: join(home, 'data') }), noteRows)
  t.strictSame(await readdir(home), ['data'], 'no file lies outside the store')

  await t.test('D35: one note more than there may be is refused, and those that are there stay', async t => {
    const server = await startServer(t, { limits: { maxNotes: 3 } })
    for (const content of ['first', '../second', '__proto__']) {
      t.match((await post(server.port, '/message', callTool('add_note', { content })('legacy'))).body, /added/)
    }
    // The change of the notes is announced at the end of the turn, to the clients that are connected then.
    await endOfTurn()
    await tryRows(t, server, [
      {
        row: 'D35',
        title: 'the fourth of three notes',
        input: callTool('add_note', { content: 'fourth' }),
        expect: failed
      }
    ])
    const { body } = await post(server.port, '/message', callTool('get_notes')('legacy'))
    t.match(body, /__proto__.*\.\.\/second.*first/s, 'kept as they were written')
  })
})

t.test(
  'where there is no clipboard its tools say so',
  { skip: process.platform !== 'linux' && 'a display is what Linux needs' },
  async t => {
    t.teardown(environment({}))
    await tryRows(t, await startServer(t), clipboardRows)
  }
)

t.test('a search is one request to one service, for a limited time', async t => {
  const heads: string[] = []
  const answering = await service(t, ({ method, rawHeaders }, response) => {
    heads.push([method, ...rawHeaders].join(' '))
    response.end('<html></html>')
  })
  const server = await startServer(t, { searchUrl: answering.url, toolRates: {} })

  await tryRows(t, server, [
    {
      row: 'D38',
      title: 'a query of a megabyte',
      input: callTool('web_search', { query: 'x'.repeat(1_000_000) }),
      expect: brokenArguments()
    },
    {
      row: 'D38',
      title: 'a query of one character too many',
      input: callTool('web_search', { query: 'x'.repeat(501) }),
      expect: brokenArguments()
    },
    { row: 'D38', title: 'a query of blanks', input: callTool('web_search', { query: ' \t ' }), expect: failed }
  ])
  t.strictSame(answering.requests, [], 'nobody was asked')

  for (const query of CRLF) {
    await t.test(`D38: the query ${brief(query)} is one query`, async t => {
      for (const list of [answering.requests, heads]) list.length = 0
      t.match((await post(server.port, '/message', callTool('web_search', { query })('legacy'))).status, 200)
      t.equal(answering.requests.length, 1)
      t.notMatch([...answering.requests, ...heads].join(' '), /[\r\n]|X-Injected: 1|GET \/evil|Host: evil/)
      await expectUnharmed(t, server)
    })
  }

  await t.test('D38: a service that never answers is not waited for', async t => {
    const hanging = await service(t, () => {})
    const withSearchTimeout = await startServer(t, {
      searchUrl: hanging.url,
      limits: { searchTimeout: 1_000 },
      toolRates: {}
    })
    await tryRows(t, withSearchTimeout, [
      { row: 'D38', title: 'a service that hangs', input: callTool('web_search', { query: 'x' }), expect: failed }
    ])
    t.equal(hanging.requests.length, Object.keys(failed).length)
    const search = callTool('web_search', { query: 'x' })('legacy')
    const best = await bestTime(
      9_000,
      async () => await timeOf(async () => await post(withSearchTimeout.port, '/message', search))
    )
    t.ok(best < 9_000, `told after ${Math.round(best)} ms`)
  })
})

function brief (text: string): string {
  return JSON.stringify(text.length > 30 ? `${text.slice(0, 30)}…` : text)
}
