import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { inTime, pause, until } from '../support/wait.js'
import { folder, initialize, launch, PROCESSES, toolCall, type Json, type Launched } from '../support/process.js'

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Opens files until there is no descriptor left, and closes them a while later. */
const GREEDY = `
import { closeSync, openSync } from 'node:fs'
import { tool } from 'mcp-patchbay'
const open = []
export default async function greedy ({ mcp: { tools } }) {
  tools.add(tool({ name: 'take_all', description: 'd', run: () => { try { for (;;) open.push(openSync('/dev/null')) } catch (error) { return error.code } } }))
  tools.add(tool({ name: 'give_back', description: 'd', run: () => { for (const fd of open.splice(0)) closeSync(fd); return 'given back' } }))
}`

function openConnection (t: Test, port: number): { socket: Socket, over: boolean, answers: number } {
  const connection = { socket: connect({ port, host: '127.0.0.1' }), over: false, answers: 0 }
  connection.socket
    .on('error', () => {})
    .on('close', () => {
      connection.over = true
    })
    .on('data', () => {
      connection.answers++
    })
  t.teardown(() => connection.socket.destroy())
  connection.socket.write(HEALTH)
  return connection
}

/** The next answers in the order of their ids, without the notifications among them. */
async function answersOf (launched: Launched, count: number): Promise<Json[]> {
  const answers: Json[] = []
  while (answers.length < count) {
    const message = await launched.next()
    if (message.id !== undefined) answers.push(message)
  }
  return answers.sort((one, other) => Number(one.id) - Number(other.id))
}

const statusOf = async (url: string): Promise<number> =>
  (await fetch(`${url}/health`, { headers: { connection: 'close' } })).status

t.test('the limit of open files', { skip: process.platform === 'win32' && 'Windows has no limit of open files to set' }, async t => {
  t.jobs = PROCESSES

  t.test(
    'with more connections than open files those that fit are served and the others closed',
    { buffered: true },
    async t => {
      const launched = launch(t, ['--port', '0', '--ephemeral'], { openFiles: 256 })
      const url = await launched.url()
      const connections = Array.from({ length: 400 }, () => openConnection(t, Number(new URL(url).port)))
      await until(
        () => connections.every(({ over, answers }) => over || answers > 0),
        'each is answered or closed',
        60_000
      )
      const served = connections.filter(({ over }) => !over)
      t.equal(served.length, 156)
      t.match(launched.stderr, /limit maxConnections is lowered to 156, because this process may open 256 files/)
      await pause(2_500, 'another process looks at its memory once a second, and tells nothing of it')
      for (const { socket } of served) socket.write(HEALTH)
      await until(() => served.every(({ answers }) => answers > 1), 'each is answered again', 60_000)
      for (const { socket } of connections) socket.destroy()
      await until(() => served.every(({ over }) => over), 'there is room again')
      for (let asked = 0; (await statusOf(url).catch(() => 0)) !== 200; asked++) {
        if (asked > 200) t.fail('it does not answer any more')
      }
      launched.kill('SIGTERM')
      t.match(await launched.exit(), { code: 0, signal: null })
      t.notMatch(launched.stderr, /"level":50/)
    }
  )

  t.test('a process without a free descriptor serves its connections, and new ones when there is one', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--port', '0', '--plugin', 'greedy.mjs'], {
      cwd: await folder(t, { 'greedy.mjs': GREEDY, 'a.txt': 'text' }),
      openFiles: 256,
      env: { PATCHBAY_COMMANDS: '{"true":{}}', PATCHBAY_ROOTS: '.', PATCHBAY_SEARCH_URL: 'http://127.0.0.1:1/' }
    })
    const url = await launched.url()
    const connection = openConnection(t, Number(new URL(url).port))
    await until(() => connection.answers === 1, 'it is answered')
    launched.send(initialize, toolCall(1, 'take_all'))
    await launched.next()
    t.match(await launched.next(), { id: 1, result: { content: [{ text: 'EMFILE' }] } })
    const late = openConnection(t, Number(new URL(url).port))
    await once(late.socket, 'connect')
    const work = [
      toolCall(2, 'execute_command', { command: 'true' }),
      toolCall(3, 'web_search', { query: 'x' }),
      toolCall(4, 'health_check'),
      toolCall(5, 'add_note', { content: 'x' }),
      { id: 6, method: 'resources/list', params: {} }
    ]
    launched.send(...work)
    const answers = await answersOf(launched, work.length)
    t.match(answers[0], { result: { isError: true, content: [{ text: /too many open files/ }] } })
    t.match(answers[2], { result: { structuredContent: { status: 'healthy' } } })
    await pause(
      2_500,
      'another process looks at its memory once a second without a free descriptor, and tells nothing of it'
    )
    connection.socket.write(HEALTH)
    await until(() => connection.answers === 2, 'it is answered again')
    launched.send(toolCall(7, 'give_back'))
    t.match(await answersOf(launched, 1), [{ id: 7, result: { content: [{ text: 'given back' }] } }])
    t.equal(await inTime(statusOf(url), 'an answer'), 200)
    launched.send(toolCall(8, 'execute_command', { command: 'true' }), toolCall(9, 'web_search', { query: 'x' }), {
      id: 10,
      method: 'resources/list',
      params: {}
    })
    const again = await answersOf(launched, 3)
    t.match(again, [
      { id: 8, result: { content: [{ text: '' }] } },
      { id: 9, result: { isError: true } },
      { id: 10, result: {} }
    ])
    t.notMatch(JSON.stringify(again), /too many open|EMFILE|Internal/)
    launched.kill('SIGTERM')
    t.match(await launched.exit(), { code: 0, signal: null })
    t.notMatch(launched.stderr, /uncaught exception/)
  })
})
