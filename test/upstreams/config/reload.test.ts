import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { folder, initialize, launch, toolCall, type Launched } from '../../support/process.js'
import { until } from '../../support/wait.js'

const PROGRAM = fileURLToPath(new URL('../programs/server.js', import.meta.url))
const SECRET = 'hunter2-hunter2'

interface Reply {
  id?: unknown
  method?: string
  result?: { content?: Array<{ text: string }>, tools?: Array<{ name: string }> }
  error?: { message: string }
}

/** A stdio client of a real gateway, whose upstreams a file names. */
class Session {
  readonly launched: Launched
  readonly notifications: string[] = []
  readonly #file: string
  #id = 0

  constructor (launched: Launched, file: string) {
    this.launched = launched
    this.#file = file
  }

  async write (servers: object): Promise<void> {
    await writeFile(this.#file, JSON.stringify({ mcpServers: servers }))
  }

  /** Changes the file and waits until the gateway has taken it over. */
  async change (servers: object): Promise<void> {
    const count = (): number => this.launched.stderr.split('options reloaded').length
    const before = count()
    await this.write(servers)
    this.launched.kill('SIGHUP')
    await until(() => count() > before, 'the reload')
  }

  async request (message: { method: string, params?: object }): Promise<Reply> {
    const id = ++this.#id
    this.launched.send({ ...message, id })
    for (;;) {
      const reply = await this.launched.next() as Reply
      if (reply.id === id) return reply
      if (reply.method !== undefined) this.notifications.push(reply.method)
    }
  }

  /** Waits until a tool is listed, or is not. */
  async listed (name: string, wanted = true): Promise<void> {
    await until(
      async () =>
        (await this.request({ method: 'tools/list' })).result?.tools?.some(tool => tool.name === name) === wanted,
      `${name} in tools/list`
    )
  }

  async call (name: string): Promise<string> {
    const { result, error } = await this.request(toolCall(0, name, {}))
    return result?.content?.[0]?.text ?? error?.message ?? ''
  }
}

async function start (t: Test, servers: object): Promise<Session> {
  const place = await folder(t, {})
  const file = join(place, 'mcp.json')
  await writeFile(file, JSON.stringify({ mcpServers: servers }))
  const session = new Session(launch(t, ['--stdio', '--ephemeral', '--log-level', 'trace', '--mcp-config', file]), file)
  session.launched.send(initialize)
  await session.launched.next()
  session.launched.send({ method: 'notifications/initialized' })
  return session
}

const server = (version: string) => ({
  command: process.execPath,
  args: [PROGRAM],
  env: { VERSION: version, TOKEN: SECRET }
})

t.test(
  'a reload leaves the process of an unchanged server alone, replaces that of a changed one, and announces what is gone',
  async t => {
    const session = await start(t, { same: server('1'), changed: server('1'), gone: server('1') })
    for (const name of ['same__pid', 'changed__pid', 'gone__pid']) await session.listed(name)
    const before = [
      await session.call('same__pid'),
      await session.call('changed__pid'),
      await session.call('gone__pid')
    ]
    t.equal(new Set(before).size, 3)

    session.notifications.length = 0
    await session.change({ changed: server('2'), same: server('1'), added: server('1') })
    await session.listed('added__pid')
    await session.listed('gone__pid', false)
    await session.listed('changed__pid')
    t.ok(session.notifications.includes('notifications/tools/list_changed'))
    t.equal(await session.call('same__pid'), before[0], 'the same process, though it is at another place in the file')
    t.not(await session.call('changed__pid'), before[1])
    t.match(await session.call('gone__pid'), /Unknown tool/)
    for (const pid of before.slice(1)) await until(() => !isAlive(Number(pid)), `the end of ${pid}`)

    t.notMatch(session.launched.stderr + session.launched.stdout, SECRET, 'the values of env are nowhere')
    session.launched.end()
    const { code } = await session.launched.exit()
    t.equal(code, 0)
  }
)

t.test('a reload that changes overrides changes names and values, and leaves the process alone', async t => {
  const secret = 'override-hunter2'
  const overridden = (name: string, key: string): object =>
    ({ ...server('1'), override: { pid: { name }, echo: { arguments: { key: { value: key } } } } })
  const session = await start(t, { one: overridden('process_id', 'first') })
  await session.listed('one__process_id')
  const before = await session.call('one__process_id')
  t.equal(await session.call('one__echo'), 'first')
  session.notifications.length = 0
  await session.change({ one: overridden('number', secret) })
  await session.listed('one__number')
  t.ok(session.notifications.includes('notifications/tools/list_changed'))
  t.equal(await session.call('one__number'), before, 'the same process')
  t.match(await session.call('one__process_id'), /Unknown tool/)
  t.equal(await session.call('one__echo'), secret)
  await session.change({ one: server('1') })
  await session.listed('one__pid')
  t.equal(await session.call('one__pid'), before)
  t.equal(await session.call('one__echo'), '')
  t.match(session.launched.stderr, /upstreams changed: one/)
  t.notMatch(session.launched.stderr, secret, 'a fixed value is in no log')
  session.launched.end()
  t.equal((await session.launched.exit()).code, 0)
})

function isAlive (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
