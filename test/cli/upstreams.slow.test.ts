import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch, PROCESSES, type Launched } from '../support/process.js'
import { until } from '../support/wait.js'

const WAIT = 30_000

interface Line { level: number, msg: string, reload?: { upstreams: Record<string, string[]> } }

const linesOf = ({ stderr }: Launched): Line[] =>
  stderr
    .split('\n')
    .slice(0, -1)
    .flatMap(line => (line.startsWith('{"level"') ? [JSON.parse(line) as Line] : []))
const reloads = (launched: Launched): Line[] =>
  linesOf(launched).filter(({ msg }) => /^options (not )?reloaded/.test(msg))

/** The next line about a reload after `act`. */
async function reloaded (launched: Launched, act: () => unknown): Promise<Line> {
  const before = reloads(launched).length
  await act()
  await until(() => reloads(launched).length > before, undefined, WAIT)
  return reloads(launched).at(-1) as Line
}

/** A file that is saved may be seen twice, the second time with nothing new: one of the lines after `act` is this. */
async function reloadedAs (t: Test, launched: Launched, msg: RegExp, act: () => unknown): Promise<void> {
  const before = reloads(launched).length
  await act()
  await until(() => reloads(launched).slice(before).some(line => msg.test(line.msg)), `a line ${String(msg)}`, WAIT)
  t.pass(String(msg))
}

/** A server that is never started, because it is lazy. */
const lazy = (...args: string[]) => ({ command: 'never-started', args, start: 'lazy' })

const text = (servers: object): string => JSON.stringify({ mcpServers: servers }, null, 2)

async function checked (t: Test, files: Record<string, string>, args: string[]) {
  const place = await folder(t, files)
  const launched = launch(t, ['--check', '--ephemeral', ...args], { cwd: place })
  const { code, stdout, stderr } = await launched.exit()
  return { code, stdout, stderr: stderr.replaceAll(place, 'PLACE') }
}

t.test('upstreams on the command line', async t => {
  t.jobs = PROCESSES

  t.test('--check lists the servers of options and files, and starts none', { buffered: true }, async t => {
    const files = {
      'patchbay.json': text({ a: { command: 'sh', args: ['-c', 'touch started'] } }),
      'mcp.json': text({
        'Other One': { url: 'https://example.com/mcp', colour: 'red' },
        off: { command: 'x', disabled: true }
      })
    }
    const { code, stdout, stderr } = await checked(t, files, ['--config', 'patchbay.json', '--mcp-config', 'mcp.json'])
    t.equal(code, 0, stderr)
    t.match(stdout, /^ {2}upstreams +a, other-one, off \(disabled\)$/m)
    t.equal(
      stderr,
      'patchbay: warning: PLACE/mcp.json, line 5: server "Other One": colour has no meaning for Patchbay\n'
    )
  })

  t.test('--check hints at a prefix where the name of a server is long', { buffered: true }, async t => {
    const files = {
      'mcp.json': text({
        'LaunchDarkly Production (EU) account': { command: 'sh' },
        'Another name that is long': { command: 'sh', prefix: 'other_' },
        short: { command: 'sh' }
      })
    }
    const { code, stderr } = await checked(t, files, ['--mcp-config', 'mcp.json'])
    t.equal(code, 0)
    t.equal(
      stderr,
      'patchbay: warning: upstream launchdarkly-production-e-1ec985: its name leaves 15 characters to the names of its tools, and is shortened before longer ones; set prefix to something shorter\n'
    )
  })

  t.test('--check says which programs cannot be started, and what to do', { buffered: true }, async t => {
    const files = {
      'mcp.json': text({
        typo: { command: 'nmpx' },
        words: { command: 'sh -c true' },
        lost: { command: 'sh', cwd: 'nowhere' },
        off: { command: 'nmpx', disabled: true },
        good: { command: 'sh' }
      })
    }
    const { code, stdout, stderr } = await checked(t, files, ['--mcp-config', 'mcp.json'])
    t.equal(code, 1)
    t.match(
      stderr,
      'patchbay: upstream typo: nmpx is not on PATH; write the whole path of the program as its command, or set PATH in its env'
    )
    t.match(
      stderr,
      'patchbay: upstream words: sh -c true is not on PATH; command is the program alone: put its arguments into args'
    )
    t.match(
      stderr,
      /^patchbay: upstream lost: its folder \S+\/nowhere is not there, or may not be entered; correct cwd/m
    )
    t.notMatch(stderr, /upstream (off|good):/)
    t.match(stdout, /^ {2}upstreams +off \(disabled\), good$/m, 'the others are what would be served')
    t.notMatch(stdout, /typo|words|lost/, 'each is named once')
  })

  t.test(
    '--check names mistakes in servers and missing programs at once, and what would be served',
    { buffered: true },
    async t => {
      const files = {
        'mcp.json': text({
          typo: { command: 'nmpx' },
          list: { command: 'sh', args: 'server.js' },
          unset: { command: 'sh', env: { KEY: '${NOT_SET}' } }, // eslint-disable-line no-template-curly-in-string
          good: { command: 'sh' }
        })
      }
      const { code, stdout, stderr } = await checked(t, files, ['--mcp-config', 'mcp.json'])
      t.equal(code, 1)
      t.strictSame(
        stderr
          .replaceAll(/; write the whole.*/g, '')
          .split('\n')
          .slice(0, -1),
        [
          'patchbay: PLACE/mcp.json, line 8: server "list": args must be a list of strings',
          'patchbay: PLACE/mcp.json, line 13: server "unset": env.KEY needs the environment variable NOT_SET, which is not set',
          'patchbay: upstream typo: nmpx is not on PATH'
        ]
      )
      t.match(stdout, /^ {2}upstreams +good$/m)
    }
  )

  t.test('--check shows the control characters of a file, and obeys none', { buffered: true }, async t => {
    const odd = '\u001b[31mred\u001b]0;title\u0007\u202e\u009b'
    const files = {
      'mcp.json': text({
        [odd]: { command: `no-${odd}`, colour: 1 },
        [`b${odd}`]: { command: 'sh', args: 'x' },
        [`c${odd}`]: { command: 'sh', cwd: `${odd}` }
      })
    }
    const { stdout, stderr } = await checked(t, files, ['--mcp-config', 'mcp.json'])
    t.notMatch(stdout + stderr, /(?!\n)[\p{Cc}\p{Cf}]/u)
    t.match(stderr, 'server "\\u{1b}[31mred\\u{1b}]0;title\\u{7}\\u{202e}\\u{9b}": colour has no meaning')
    t.match(stderr, 'no-\\u{1b}[31mred')
  })

  t.test('--check of a file that is a single server without a name says what to write', { buffered: true }, async t => {
    const { code, stderr } = await checked(t, { 'mcp.json': '{"command": "npx", "args": []}' }, [
      '--mcp-config',
      'mcp.json'
    ])
    t.equal(code, 1)
    t.equal(
      stderr,
      'patchbay: PLACE/mcp.json is one server without a name; put it into an object: {"mcpServers":{"NAME":{…}}}\n'
    )
  })

  t.test(
    '--check of nested YAML ends in words, however deep it is and in whatever form',
    { buffered: true },
    async t => {
      const forms: Record<string, (depth: number) => string> = {
        lists: depth => `mcpServers: ${'['.repeat(depth)}`,
        closed: depth => `mcpServers: ${'['.repeat(depth)}${']'.repeat(depth)}`,
        maps: depth => `mcpServers: ${'{a: '.repeat(depth)}`,
        dashes: depth => `mcpServers:\n  ${'- '.repeat(depth)}`,
        keys: depth => `mcpServers:\n  ${'? '.repeat(depth)}`,
        values: depth => `mcpServers:\n  ${'a: '.repeat(depth)}`,
        anchors: depth => `mcpServers: ${'&a '.repeat(depth)}x`,
        tags: depth => `mcpServers: ${'[!!seq '.repeat(depth)}x`,
        lines: () =>
          `mcpServers:\n${Array.from({ length: 1_300 }, (_, level) => `${' '.repeat(level + 1)}a:\n`).join('')}`
      }
      const files = Object.fromEntries(
        Object.entries(forms).flatMap(([name, form]) =>
          [60_000, 140_000].map(depth => [`${name}-${depth}.yaml`, form(depth)] as const)
        )
      )
      const { code, stderr } = await checked(
        t,
        files,
        Object.keys(files).flatMap(file => ['--mcp-config', file])
      )
      t.equal(code, 1)
      for (const file of Object.keys(files)) {
        t.match(stderr, new RegExp(`^patchbay: PLACE/${file}, line \\d+: it is nested too deeply$`, 'm'))
      }
    }
  )

  t.test(
    '--check reports everything that is wrong with them, with file, line and field, and never a value',
    { buffered: true },
    async t => {
      const files = {
        'patchbay.json': text({
          a: { command: 'x', env: { KEY: 'hunter2${NOT_SET}' } }, // eslint-disable-line no-template-curly-in-string
          b: { comand: 'x' }
        }),
        'mcp.json': text({
          c: { url: 'https://hunter2@example.com/${ALSO_NOT_SET}', headers: [] }, // eslint-disable-line no-template-curly-in-string
          d: { command: 'x', timeout: 'soon', isolate: 'sesion' }
        }),
        'broken.toml': '[mcp_servers.x]\ncommand = \n'
      }
      const { code, stderr } = await checked(t, files, [
        '--config',
        'patchbay.json',
        '--mcp-config',
        'mcp.json',
        '--mcp-config',
        'broken.toml',
        '--mcp-config',
        'missing.json',
        '--plugin',
        'missing.ts'
      ])
      t.equal(code, 1)
      const lines = stderr.split('\n')
      for (const line of [
        'patchbay: config file PLACE/patchbay.json, line 6: option mcpServers.a.env.KEY needs the environment variable NOT_SET, which is not set',
        'patchbay: config file PLACE/patchbay.json, line 9: option mcpServers.b needs a command or a url; did you mean "command" where it has "comand"?',
        'patchbay: PLACE/mcp.json, line 5: server "c": headers must be an object with a string for each name',
        'patchbay: PLACE/mcp.json, line 9: server "d": timeout must be a number of milliseconds',
        'patchbay: PLACE/mcp.json, line 10: server "d": isolate must be one of none, principal, session',
        'patchbay: PLACE/missing.json: there is no such file'
      ]) {
        t.ok(lines.includes(line), `${line}\n${stderr}`)
      }
      t.match(stderr, /^patchbay: PLACE\/broken\.toml, line 2: this is not TOML \(/m)
      t.match(stderr, /missing\.ts/, 'and what is wrong with other options')
      t.notMatch(stderr, /hunter2/)
    }
  )

  t.test(
    'a server with a mistake is left out by name at a start, in log and /health, and the others are served',
    { buffered: true },
    async t => {
      const place = await folder(t, {
        'patchbay.json': text({ own: { command: 'y', args: 'z' } }),
        'mcp.json': text({
          a: { command: 'x', args: ['${NOT_SET}'] }, // eslint-disable-line no-template-curly-in-string
          sse: { command: 'y' },
          good: lazy()
        })
      })
      const launched = await launch(t, [
        '--ephemeral',
        '--port',
        '0',
        '--config',
        join(place, 'patchbay.json'),
        '--mcp-config',
        join(place, 'mcp.json')
      ])
      await until(() => launched.stderr.includes('"upstreams":["good"]'), 'the start', WAIT)
      t.strictSame(
        linesOf(launched)
          .filter(({ level }) => level === 50)
          .map(({ msg }) => msg.replaceAll(place, 'PLACE')),
        [
          'upstream own is left out: option mcpServers.own.args must be a list of strings',
          'upstream a is left out: PLACE/mcp.json, line 6: server "a": args.0 needs the environment variable NOT_SET, which is not set',
          'upstream sse is left out: PLACE/mcp.json, line 9: server "sse" cannot have this name, because /mcp/sse is a URL of the gateway itself; give it another name'
        ]
      )
      const health = (await (await fetch(`${await launched.url()}/health`)).json()) as object
      t.match(health, {
        status: 'degraded',
        ready: true,
        parts: { 'upstream configuration': 'own, a, sse: the configuration has mistakes, which the log names' },
        upstreams: [{ alias: 'good' }]
      })
    }
  )

  t.test('a file that cannot be read stops a start', { buffered: true }, async t => {
    const place = await folder(t, { 'mcp.json': '{', 'other.json': text({ a: { command: 'x', args: 'y' } }) })
    const { code, stderr } = await launch(t, [
      '--ephemeral',
      '--port',
      '0',
      '--mcp-config',
      join(place, 'mcp.json'),
      '--mcp-config',
      join(place, 'other.json')
    ]).exit()
    t.equal(code, 1)
    t.match(stderr, /mcp\.json, line 1: this is not JSON/)
    t.match(stderr, /other\.json, line 5: server "a": args must be a list of strings/)
  })

  t.test('the banner lists them', { buffered: true }, async t => {
    const place = await folder(t, { 'mcp.json': text({ files: lazy(), 'Old One': { ...lazy(), disabled: true } }) })
    const launched = await launch(t, ['--ephemeral', '--port', '0', '--log-format', 'pretty'], {
      env: { PATCHBAY_MCP_CONFIG: join(place, 'mcp.json') }
    }).up()
    t.match(launched.stderr, /^ {2}upstreams +files, old-one \(disabled\)$/m)
  })

  t.test('SIGHUP takes over changed files and options; a wrong file changes nothing', { buffered: true }, async t => {
    const place = await folder(t, {
      'patchbay.json': text({ own: lazy() }),
      'mcp.json': text({ a: lazy('1'), b: lazy('1'), c: lazy('1') })
    })
    const [config, client] = [join(place, 'patchbay.json'), join(place, 'mcp.json')]
    const launched = await launch(t, ['--ephemeral', '--port', '0', '--config', config, '--mcp-config', client]).up()
    const hangUp = (): void => { launched.kill('SIGHUP') }
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: nothing changed')
    await writeFile(client, text({ a: lazy('1'), b: lazy('2'), d: lazy('1') }))
    const changed = await reloaded(launched, hangUp)
    t.equal(changed.msg, 'options reloaded: upstreams added: d; upstreams removed: c; upstreams changed: b')
    t.strictSame(changed.reload?.upstreams, { added: ['d'], removed: ['c'], changed: ['b'] })
    await writeFile(config, text({ own: lazy('2') }))
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: changed mcpServers; upstreams changed: own')
    await writeFile(client, '{ "mcpServers": { "a": ')
    t.match(await reloaded(launched, hangUp), {
      level: 50,
      msg: /^options not reloaded, the previous ones stay: .*mcp\.json, line 1: this is not JSON/
    })
    await writeFile(config, text({ own: { command: '${NOT_SET}' } })) // eslint-disable-line no-template-curly-in-string
    await writeFile(client, text({ d: lazy('1') }))
    t.equal(
      (await reloaded(launched, hangUp)).msg,
      'options reloaded: changed mcpServers; upstreams removed: a, b',
      'a server whose new entry has a mistake stays as it was'
    )
    t.match(
      linesOf(launched)
        .filter(({ level }) => level === 50)
        .at(-1)?.msg,
      /^upstream own stays as it was: config file .*patchbay\.json, line 4: option mcpServers\.own\.command needs the environment variable NOT_SET, which is not set$/
    )
    const { upstreams } = (await (await fetch(`${await launched.url()}/health`)).json()) as {
      upstreams: Array<{ alias: string }>
    }
    t.strictSame(upstreams.map(({ alias }) => alias), ['own', 'd'], 'and where it was')
    await writeFile(client, text({ d: lazy('1'), e: { command: 'x', args: 'y' }, f: lazy('1') }))
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: upstreams added: f')
    t.match(
      linesOf(launched)
        .filter(({ level }) => level === 50)
        .at(-1)?.msg,
      /^upstream e is left out: .*mcp\.json, line 12: server "e": args must be a list of strings$/
    )
    await writeFile(config, text({ own: lazy('2') }))
    await writeFile(client, text({ d: lazy('1') }))
    t.equal((await reloaded(launched, hangUp)).msg, 'options reloaded: changed mcpServers; upstreams removed: f')
  })

  t.test('SIGHUP with nested YAML changes nothing, and the gateway lives', { buffered: true }, async t => {
    const client = join(
      await folder(t, { 'mcp.yaml': 'mcpServers:\n  a:\n    command: never-started\n    start: lazy\n' }),
      'mcp.yaml'
    )
    const launched = await launch(t, ['--ephemeral', '--port', '0', '--mcp-config', client]).up()
    for (const text of ['[', '- ', '{a: ', '? ', 'a: '].flatMap(mark =>
      [60_000, 200_000].map(depth => mark.repeat(depth))
    )) {
      await writeFile(client, `mcpServers:\n  ${text}`)
      t.match(
        (
          await reloaded(launched, () => {
            launched.kill('SIGHUP')
          })
        ).msg,
        /^options not reloaded, the previous ones stay: .*mcp\.yaml, line 2: it is nested too deeply$/
      )
    }
    t.match(await (await fetch(`${await launched.url()}/health`)).json() as object, { upstreams: [{ alias: 'a' }] })
  })

  t.test(
    '--reload does the same when a file is saved, in place or by renaming, also one that a file refers to',
    { buffered: true },
    async t => {
      const place = await folder(t, {
        'patchbay.json': text({ own: lazy() }),
        'mcp.json': text({ a: { ...lazy(), envFile: 'a.env' } }),
        'a.env': 'A=1\n'
      })
      const [config, client, env] = ['patchbay.json', 'mcp.json', 'a.env'].map(name => join(place, name)) as [
        string,
        string,
        string
      ]
      const launched = await launch(t, [
        '--ephemeral',
        '--port',
        '0',
        '--reload',
        '--config',
        config,
        '--mcp-config',
        client
      ]).up()
      await reloadedAs(
        t,
        launched,
        /^options reloaded: upstreams changed: a$/,
        async () => await writeFile(env, 'A=2\n')
      )
      await reloadedAs(t, launched, /^options reloaded: upstreams added: b; upstreams removed: a$/, async () => {
        await writeFile(`${client}.tmp`, text({ b: lazy() }))
        await rename(`${client}.tmp`, client)
      })
      await reloadedAs(t, launched, /^options not reloaded/, async () => await writeFile(client, '{'))
      await reloadedAs(
        t,
        launched,
        /^options reloaded: upstreams added: c; upstreams removed: b$/,
        async () => await writeFile(client, text({ c: lazy() }))
      )
      await reloadedAs(
        t,
        launched,
        /^options reloaded: changed mcpServers; upstreams removed: own$/,
        async () => await writeFile(config, text({}))
      )
    }
  )
})
