import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build, type Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { scripts } from '../../support/environment/scripts.js'

type Commands = Options['commands']

const quiet = { signal: new AbortController().signal, onOutput: () => {} }

const using = async (t: Test, commands: Commands) => (await gateway(t, { http: false, commands })).mcp.commands

t.test('a list that cannot be served fails at start with an error that names the option', async t => {
  const MISTAKES: Array<[commands: unknown, message: RegExp]> = [
    [
      { 'no-such-program': {} },
      /^option commands\.no-such-program: there is no program no-such-program on the PATH; set commands\.no-such-program\.program/
    ],
    [{ ls: { program: 'ls' } }, /^option commands\.ls\.program must be an absolute path, not "ls"$/],
    [{ ls: { program: './ls' } }, /^option commands\.ls\.program must be an absolute path/],
    [
      { ls: { program: '/nowhere/ls' } },
      /^option commands\.ls\.program must be a file that may be executed, which "\/nowhere\/ls" is not$/
    ],
    [{ ls: { program: '/etc/passwd' } }, /^option commands\.ls\.program must be a file that may be executed/],
    [{ ls: { program: '/bin' } }, /^option commands\.ls\.program must be a file that may be executed/],
    [
      { ls: { folder: '/nowhere' } },
      /^option commands\.ls\.folder must be the absolute path of a folder, which "\/nowhere" is not$/
    ],
    [{ ls: { folder: '.' } }, /^option commands\.ls\.folder must be the absolute path of a folder/],
    [{ ls: { args: ['-l', '('] } }, /^option commands\.ls\.args\.1 must be a regular expression: .*Unterminated group/],
    [{ ls: { args: ['a)|(?:.*'] } }, /^option commands\.ls\.args\.0 must be a regular expression: .*Unmatched/],
    [{ ls: { args: ['[\\w-.]'] } }, /^option commands\.ls\.args\.0 must be a regular expression/],
    [{ ls: { args: '-l' } }, /^option commands\.ls\.args must be array$/],
    [{ ls: { timeout: 0 } }, /^option commands\.ls\.timeout must be >= 1$/],
    [{ 'rm -rf': {} }, /^option commands/]
  ]
  for (const [commands, message] of MISTAKES) {
    await t.rejects(build({ http: false, commands: commands as Commands }), { message }, JSON.stringify(commands))
  }
})

t.test('a program without a path is looked up once, at start', async t => {
  const { PATH: before = '' } = process.env
  const path = await scripts(t, { 'patchbay-lookup': 'echo found' })
  process.env['PATH'] = `${path}:${before}`
  t.teardown(() => { process.env['PATH'] = before })
  const { names, run } = await using(t, { 'patchbay-lookup': {} })
  process.env['PATH'] = before
  t.strictSame(names, ['patchbay-lookup'])
  t.match(await run('patchbay-lookup', [], quiet), { stdout: 'found\n' })
})

t.test('a program runs in its folder, or in that of temporary files', async t => {
  const path = await scripts(t, {})
  const { run } = await using(t, { here: { program: '/bin/pwd', folder: path }, there: { program: '/bin/pwd' } })
  t.match(await run('here', [], quiet), { stdout: `${path}\n` })
  t.match(await run('there', [], quiet), { stdout: `${tmpdir()}\n` })
})

t.test('a command that is not listed does not run', async t => {
  const { run } = await using(t, { ls: {}, cat: {} })
  for (const name of ['rm', '/bin/ls', 'LS', 'ls ', ' ls', '', 'ls\0', 'constructor', '__proto__', 'x'.repeat(500)]) {
    await t.rejects(
      run(name, [], quiet),
      { name: 'ToolError', message: /is not allowed; allowed are ls, cat$/ },
      JSON.stringify(name.slice(0, 20))
    )
  }
})

t.test('an argument has to match a pattern entirely, and the one that does not is named', async t => {
  const path = await scripts(t, { it: 'echo "$@"' })
  const program = join(path, 'it')
  const { run } = await using(t, {
    none: { program },
    some: { program, args: ['-la?', '/tmp(/[\\w.-]+)*', 'a|b'], maxArgs: 3 },
    any: { program, args: ['[^]*'] }
  })
  const refused = async (name: string, args: string[], message: string) =>
    await t.rejects(run(name, args, quiet), { name: 'ToolError', message }, message)

  t.match(await run('some', ['-la', '/tmp/x.y', 'b'], quiet), { stdout: '-la /tmp/x.y b\n' })
  const allowed = 'is not allowed; allowed are arguments that match -la? or /tmp(/[\\w.-]+)* or a|b'
  for (const arg of ['', '-lax', 'x-la', '-la\n', '\n-la', '-LA', '/tmp/', '/tmp/a b', 'ab', 'ax', 'xb']) {
    await refused('some', ['-l', arg], `argument 2 of some, ${JSON.stringify(arg)}, ${allowed}`)
  }
  await refused(
    'some',
    ['a', 'a', 'a', 'b'],
    'argument 4 of some, "b", is not allowed; allowed are at most 3 arguments'
  )
  await refused('none', ['x'], 'argument 1 of none, "x", is not allowed; allowed are no arguments')
  await refused(
    'any',
    Array<string>(17).fill('x'),
    'argument 17 of any, "x", is not allowed; allowed are at most 16 arguments'
  )
  await refused(
    'any',
    ['x', 'a\0b'],
    'argument 2 of any, "a\\u0000b", is not allowed; allowed are arguments without NUL and without half characters'
  )
  await refused(
    'any',
    ['\ud83d'],
    'argument 1 of any, "\\ud83d", is not allowed; allowed are arguments without NUL and without half characters'
  )
  await refused(
    'none',
    ['x'.repeat(1_000)],
    `argument 1 of none, "${'x'.repeat(80)}…", is not allowed; allowed are no arguments`
  )
  await refused(
    'none',
    ['\u202e\u2028é'],
    'argument 1 of none, "\\u{202e}\\u{2028}é", is not allowed; allowed are no arguments'
  )
  t.match(await run('any', ['😀', ''], quiet), { stdout: '😀 \n' })
})
