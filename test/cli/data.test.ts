import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, initialize, launch, PROCESSES, toolCall, type Json, type Launched } from '../support/process.js'

const NO_XDG = { XDG_DATA_HOME: '' }

/** The gateway on standard input and output, after the handshake. */
async function started (
  t: Test,
  args: string[],
  options: { env?: Record<string, string>, cwd?: string } = {}
): Promise<Launched> {
  const launched = launch(t, ['--stdio', '--log-level', 'warn', ...args], options)
  launched.send(initialize)
  await launched.next()
  return await launched.up()
}

async function call (launched: Launched, name: string, args: object = {}): Promise<Json> {
  launched.send(toolCall(1, name, args))
  for (;;) {
    const { id, result } = await launched.next()
    if (id === 1) return result as Json
  }
}

async function ended (launched: Launched): Promise<void> {
  launched.end()
  await launched.exit()
}

const notes = async (launched: Launched): Promise<string[]> =>
  ((await call(launched, 'get_notes'))['structuredContent'] as { notes: Array<{ content: string }> }).notes.map(
    ({ content }) => content
  )

/** How much is kept in other files than the one. */
const beside = (data: string): number =>
  readdirSync(data)
    .filter(name => !/^patchbay\.db(-shm)?$/.test(name))
    .reduce((sum, name) => sum + statSync(join(data, name)).size, 0)

t.test('the command keeps its data', async t => {
  t.jobs = PROCESSES

  t.test('in the folder of the user, for the next start, readable by no other user', { buffered: true }, async t => {
    const HOME = await folder(t, {})
    const data = join(HOME, '.local', 'share', 'patchbay')
    const first = await started(t, [], { env: { ...NO_XDG, HOME } })
    t.match(first.stderr, `data ${data}"`)
    await call(first, 'add_note', { content: 'kept' })
    await ended(first)
    t.equal(beside(data), 0, 'one file holds everything')
    if (process.platform !== 'win32') {
      t.strictSame(
        [data, join(data, 'patchbay.db')].map(path => (statSync(path).mode & 0o777).toString(8)),
        ['700', '600']
      )
    }
    const second = await started(t, [], { env: { ...NO_XDG, HOME } })
    t.strictSame(await notes(second), ['kept'])
    await ended(second)
    t.equal(/"level":[456]0/.test(second.stderr), false, 'nothing is wrong')
  })

  t.test('in memory with --ephemeral, whatever other options are set', { buffered: true }, async t => {
    const HOME = await folder(t, {})
    const launched = await started(t, ['--ephemeral', '--data', join(HOME, 'data')], {
      env: { ...NO_XDG, HOME, PATCHBAY_DATA: join(HOME, 'other') }
    })
    t.match(launched.stderr, 'data in memory, until this process ends"')
    await call(launched, 'add_note', { content: 'gone' })
    t.strictSame(await notes(launched), ['gone'])
    await ended(launched)
    t.strictSame(readdirSync(HOME), [])
  })

  t.test(
    'in the folder PATCHBAY_DATA, which is created, together with another gateway',
    { buffered: true },
    async t => {
      const HOME = await folder(t, {})
      const data = join(HOME, 'a/b c/ü')
      const [here, there] = await Promise.all([
        started(t, [], { env: { ...NO_XDG, HOME, PATCHBAY_DATA: 'a/b c/ü' }, cwd: HOME }),
        started(t, ['--data', data], { env: { ...NO_XDG, HOME, PATCHBAY_DATA: '/nowhere' } })
      ])
      here.send({ id: 2, method: 'resources/subscribe', params: { uri: 'server://counter' } })
      t.match(await here.next(), { id: 2, result: {} })
      t.match(await call(there, 'increment_counter', { amount: 5 }), { structuredContent: { value: 5 } })
      t.match(await here.next(), { method: 'notifications/resources/updated', params: { uri: 'server://counter' } })
      t.match(await call(here, 'increment_counter'), { structuredContent: { value: 6 } })
      await ended(there)
      await ended(here)
      t.strictSame([readdirSync(HOME), beside(data), existsSync(join(data, 'patchbay.db'))], [['a'], 0, true])
    }
  )

  const UNUSABLE: Array<[what: string, make: (place: string) => unknown, folder: string, expected: RegExp]> = [
    ['a file', async place => await writeFile(join(place, 'data'), ''), 'data', /it is not a folder/],
    [
      'with a damaged file',
      async place => {
        await mkdir(join(place, 'data'))
        await writeFile(join(place, 'data', 'patchbay.db'), 'x'.repeat(8192))
      },
      'data',
      /damaged/
    ]
  ]
  for (const [what, make, name, expected] of UNUSABLE) {
    t.test(`or fails with one line: a folder that is ${what}`, { buffered: true }, async t => {
      const place = await folder(t, {})
      await make(place)
      const { code, stdout, stderr } = await launch(t, ['--stdio', '--data', name], { cwd: place }).exit()
      t.equal(code, 1)
      t.equal(stdout, '')
      t.match(stderr, /^patchbay: data folder [^\n]*\n$/, 'one line')
      t.ok(stderr.includes(`data folder ${join(place, name)}: `), 'that names the folder')
      t.match(stderr, expected)
      t.match(stderr, /choose another with --data, or keep nothing with --ephemeral\n$/)
    })
  }
})
