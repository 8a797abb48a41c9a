import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { check, type Checked } from '../../cli/report/check.js'
import { checkFolder } from '../../cli/report/check-folder.js'
import { resolveOptions, type Options } from '../../options.js'
import { ADA, listed } from '../support/keys.js'
import { folder, launch } from '../support/process.js'

const HELLO =
  "import { tool } from 'mcp-patchbay'\nconsole.log('printed by a plugin')\nexport default tool({ name: 'hello', description: 'd', run: () => 'hi' })\n"

async function checked (given: Partial<Options>): Promise<Checked & { warnings: string[] }> {
  const warnings: string[] = []
  return {
    ...(await check(
      () => resolveOptions({ ephemeral: true, ...given }),
      error => error,
      sentence => warnings.push(sentence)
    )),
    warnings
  }
}

t.test('patchbay --check prints what would be served, ends with 0, and leaves nothing behind', async t => {
  const cwd = await folder(t, { 'hello.ts': HELLO })
  const data = join(cwd, 'not', 'yet')
  for (const args of [['--check'], ['check']]) {
    const { code, stdout, stderr } = await launch(
      t,
      [...args, '--plugin', 'hello.ts', '--data', data, '--port', '1'],
      { cwd }
    ).exit()
    t.equal(code, 0)
    t.match(stdout, /^patchbay \S+ would serve this; nothing was started\.\n/)
    t.match(stdout, /^ {2}MCP +http:\/\/127\.0\.0\.1:1\/mcp /m)
    t.match(stdout, /\bhello\b/)
    t.notMatch(stdout, /printed/, 'the output of plugins is not part of it')
    t.match(stderr, 'printed by a plugin')
    t.notOk(existsSync(join(cwd, 'not')))
    t.strictSame(readdirSync(cwd), ['hello.ts'])
  }
})

t.test('mistakes in folders, data and plugins do not hide each other', async t => {
  const place = await folder(t, { file: '', 'one.mjs': 'throw new Error("no database")' })
  const at = (name: string): string => join(place, name)
  const { mistakes } = await checked({
    ephemeral: false,
    data: at('file'),
    roots: [at('a'), place, at('b')],
    plugins: [at('one.mjs'), at('two.mjs')],
    tls: { key: at('key.pem'), cert: at('cert.pem') }
  })
  t.match(mistakes, [
    /^data folder .*file is not a folder/,
    /key\.pem/,
    /^option roots: .*\/a is not/,
    /^option roots: .*\/b is not/,
    /one\.mjs: no database/,
    /two\.mjs: there is no such file/
  ])
  t.equal(mistakes.length, 6)
})

t.test('the control characters in the message of a plugin are not printed', async t => {
  const file = join(await folder(t, { 'p.mjs': 'throw new Error("a\\u001b[31mred\\u0007\\nb")' }), 'p.mjs')
  t.match((await checked({ plugins: [file] })).mistakes, [/p\.mjs: a\\u\{1b\}\[31mred\\u\{7\}; b/])
})

t.test('a plugin whose onClose hook never ends is a warning', async t => {
  const file = join(
    await folder(t, {
      'p.mjs': 'export default async app => { app.addHook("onClose", async () => await new Promise(() => {})) }'
    }),
    'p.mjs'
  )
  t.match(await checked({ plugins: [file], tools: false }), {
    mistakes: [],
    warnings: [/did not close what it opened/]
  })
})

t.test('warnings are printed and are no mistakes', async t => {
  const { report, warnings, mistakes } = await checked({
    host: '0.0.0.0', allowedHosts: ['mcp.example.com'], allowAnonymous: true, scopes: { 'tools/calculat': ['mcp'] }
  })
  t.strictSame(mistakes, [])
  t.match(warnings, [/allowAnonymous is set/, /option scopes has "tools\/calculat".*did you mean "tools\/calculate"/])
  t.match(report, /would serve/)
})

t.test('keys are checked: expired ones are named, and a wrong token is a mistake', async t => {
  const apiKeys = [listed('ada', ADA), listed('eve', 'e', ['mcp'], { expires: '2020-01-01T00:00:00Z' })]
  t.match((await checked({ apiKeys })).warnings, ['option apiKeys: the key of eve expired on 2020-01-01T00:00:00Z'])
  t.strictSame((await checked({ apiKeys, stdio: true, token: ADA })).mistakes, [])
  t.match((await checked({ apiKeys, stdio: true, token: 'other' })).mistakes, [/^option token is not accepted/])
})

t.test('Redis is not contacted', async t =>
  t.strictSame((await checked({ redis: 'redis://127.0.0.1:1' })).mistakes, [])
)

t.test('a data folder that cannot be one is a mistake', async t => {
  const place = await folder(t, { file: '' })
  t.throws(
    () => checkFolder({ data: join(place, 'file', 'below'), ephemeral: false }),
    /file is not a folder; choose another with --data/
  )
  t.throws(
    () => checkFolder({ data: '/proc/self/patchbay', ephemeral: false }, () => false),
    /this user may not write to \/proc\/self;/
  )
  t.doesNotThrow(() => checkFolder({ data: join(place, 'a', 'b'), ephemeral: false }))
  t.doesNotThrow(() => checkFolder({ data: join(place, 'file'), ephemeral: true }))
})
