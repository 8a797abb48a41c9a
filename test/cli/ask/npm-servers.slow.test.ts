import t from 'tap'
import { Unreachable } from '../../support/npm-packages.js'
import { folder, launch, PROCESSES, type Ended, type Launched } from '../../support/process.js'
import { until } from '../../support/wait.js'
import { installServers, serversFor, type NpmServer } from './npm-servers.js'

/** Installs the servers; undefined where the registry cannot be reached, which is said aloud. */
async function install (servers: readonly NpmServer[]): Promise<((server: NpmServer) => string) | undefined> {
  try {
    return await installServers(servers)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    t.comment(`NOT TESTED: servers of npm, because the registry cannot be reached: ${error.message}`)
    process.stderr.write('NOT TESTED: the command line against servers of npm; the registry of npm cannot be reached\n')
    return undefined
  }
}

const OUTCOMES: Record<number, string> = { 0: 'answered', 1: 'said that it failed', 2: 'answered with an error' }

t.test('the command line asks real servers of npm', { timeout: 900_000 }, async t => {
  t.jobs = PROCESSES
  const place = await folder(t, { 'note.md': 'a note about tea' })
  const servers = serversFor(place)
  t.ok(servers.length >= 15)
  const programOf = await install(servers)
  if (programOf === undefined) return
  const start = ({ args = [], env = {}, ...server }: NpmServer, ...words: string[]): Launched => {
    const launched = launch(t, [...words, '--timeout', '60', '--', process.execPath, programOf(server as NpmServer), ...args], { env })
    launched.end()
    return launched
  }
  const run = async (server: NpmServer, ...words: string[]): Promise<Ended> => await start(server, ...words).exit()
  const rows: string[] = []

  const asked = servers.map(async server => {
    const { name, version, call, code, says, wrong, refusal, read, prompt } = server
    await t.test(name, { buffered: true }, async t => {
      const listed = await run(server, 'tools')
      t.match(listed, { code: 0 })
      const tools = JSON.parse(listed.stdout) as Array<{ name: string }>
      t.ok(tools.some(tool => tool.name === call[0]), listed.stdout)
      const called = await run(server, 'call', ...call)
      t.ok((code as readonly unknown[]).includes(called.code), called.stderr)
      t.match(called.code === 2 ? called.stderr : called.stdout, called.code === 0 && code.length > 1 ? /./ : says)
      t.match(await run(server, 'call', ...wrong), { code: 1, stdout: '', stderr: refusal })
      if (read !== undefined) t.match(await run(server, 'read'), { code: 0, stdout: read })
      if (prompt !== undefined) t.match(await run(server, 'prompt'), { code: 0, stdout: prompt })
      rows.push(`| \`${name}\` | ${version} | ${tools.length} | \`${call[0] ?? ''}\` ${OUTCOMES[called.code ?? -1] ?? ''} |`)
    })
  })

  void t.test('watch', { buffered: true }, async t => {
    const [everything] = servers
    if (everything === undefined) return
    const watching = start(everything, 'watch', '--format', 'text')
    await until(() => watching.stderr.includes('Watching; Ctrl-C ends it.'), 'the first line')
    watching.kill('SIGINT')
    t.match(await watching.exit(), { code: 130 })
  })

  await Promise.all(asked)
  t.comment(['| server | version | tools | a call |', '|---|---|---|---|', ...rows.sort()].join('\n'))
})
