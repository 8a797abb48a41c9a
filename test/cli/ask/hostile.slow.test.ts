import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COMMAND } from '../../support/command.js'
import { folder, launch, PROCESSES } from '../../support/process.js'
import { HOSTILE, listenHostile, OBEYED } from './hostile-server.js'
import { inShells, lacksTerminal, openTerminal } from './terminal.js'

const server = `-- ${process.execPath} ${HOSTILE}`

t.test('what a hostile server says, on a terminal', { skip: lacksTerminal }, async t => {
  t.jobs = PROCESSES

  t.test('names in hints are made visible', { buffered: true }, async t => {
    for (const [line, hint] of [
      ['call calculate', 'does not list a tool "calculate"; did you mean "calculate\\u{1b}c"?'],
      ['call calculate --help', 'there is no tool "calculate"; did you mean "calculate\\u{1b}c"?'],
      ['tools calculatec', 'no tool is called like "calculatec"; did you mean "calculate\\u{1b}c"?']
    ] as const) {
      const terminal = await openTerminal(t, `patchbay ${line} ${server}`)
      await terminal.exit()
      t.notOk(terminal.raw().includes('\u001bc'), line)
      t.ok(terminal.raw().includes(hint), terminal.raw())
    }
  })

  t.test('JSON has its values, and nothing that a terminal obeys', { buffered: true }, async t => {
    for (const line of ['tools --json', 'tools paint --format json', 'call paint --format json']) {
      const terminal = await openTerminal(t, `patchbay ${line} ${server}`)
      t.equal(await terminal.exit(), 0, terminal.text())
      t.notMatch(terminal.raw(), /[\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|\u{e0041}/u, line)
      t.ok(JSON.stringify(JSON.parse(terminal.raw())).includes(OBEYED), line)
    }
  })
})

t.test('what a program wrote before it ended during a call is told, with control characters made visible', async t => {
  const { code, stderr } = await launch(t, ['call', 'crash', '--', process.execPath, HOSTILE]).exit()
  t.equal(code, 3)
  t.match(stderr, /^patchbay: the server was lost before it answered \(it exited with code 4\)/m)
  t.match(stderr, /^patchbay: \| no database x\?y\?\?$/m)
  t.notMatch(stderr, /[\u0080-\u009f\u202e]/)
})

t.test('a broken config file of the user matters to the gateway of this machine alone', async t => {
  const home = await folder(t, {})
  mkdirSync(join(home, 'patchbay'))
  writeFileSync(join(home, 'patchbay', 'patchbay.json'), '{ "port": ')
  const env = { XDG_CONFIG_HOME: home, HOME: home }
  const url = await listenHostile(t)
  t.match(await launch(t, ['tools', 'paint', '--', process.execPath, HOSTILE], { env }).exit(), { code: 0, stderr: '' })
  t.match(await launch(t, ['tools', 'paint', '--url', url], { env }).exit(), { code: 0, stderr: '' })
  t.match(await launch(t, ['tools'], { env }).exit(), { code: 1, stderr: /patchbay\.json/ })
  const named = ['--config', join(home, 'patchbay', 'patchbay.json')]
  t.match(await launch(t, ['tools', ...named, '--url', url], { env }).exit(), { code: 1, stderr: /patchbay\.json/ })
})

inShells(t, shell => `${shell} runs nothing of the names that it completes`, async (t, openShell) => {
  const url = await listenHostile(t)
  const place = await folder(t, {})
  const terminal = await openShell(place)
  const at = `--url ${url}`
  for (const [index, words] of ['evil_', '', 'pai\t', 'paint evil_', 'paint '].entries()) {
    terminal.type(`patchbay call ${at} ${words}\t\t\t\u0015echo "don"e${index}\r`)
    await terminal.shows(new RegExp(`done${index}`))
  }
  terminal.type('exit\r')
  await terminal.exit()
  t.notOk(existsSync(join(place, 'hacked')), terminal.text())
  t.notOk(terminal.raw().includes('\u001bcx'), 'and obeys none of them')
})

t.test('no shell is offered a name with control characters, or one like a flag', async t => {
  const url = await listenHostile(t)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const words = shell === 'bash' ? [`patchbay call --url ${url} `] : ['call', '--url', url, '']
    let stdout = ''
    // On a busy machine a shell is offered nothing: it does not wait for long.
    for (let tries = 0; tries < 20 && stdout === ''; tries++) {
      ({ stdout } = await launch(t, ['complete-words', shell, ...words]).exit())
    }
    t.match(stdout, /^paint\t/m, shell)
    t.notMatch(stdout, /^--|[^\P{C}\n\t]|^touch/mu, shell)
  }
})

t.test('a command whose output is not wanted any more ends without a word', async t => {
  const place = await folder(t, {})
  const line = `'${process.execPath}' '${COMMAND}' add x --config c.json -- echo hi`
  const script = `(sleep 0.01; until [ -e closed ]; do sleep 0.01; done; ${line}; echo "code $?" >&2) | { exec <&-; : > closed; }`
  const { stderr } = spawnSync('bash', ['-c', script], { cwd: place, encoding: 'utf8', env: { ...process.env, HOME: place } })
  t.equal(stderr, 'code 0\n')
  t.match(readFileSync(join(place, 'c.json'), 'utf8'), /"x"/)
})
