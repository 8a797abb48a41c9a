import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { check, type Checked } from '../../cli/report/check.js'
import { checkFolder } from '../../cli/report/check-folder.js'
import { resolveOptions, type Options } from '../../options.js'
import { ADA, listed } from '../support/keys.js'
import { folder, launch, PROCESSES } from '../support/process.js'

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

t.test('patchbay --check', async t => {
  t.jobs = PROCESSES

  t.test('prints what would be served, ends with 0, and leaves nothing behind', { buffered: true }, async t => {
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

  t.test('ends although a plugin keeps a timer', { buffered: true }, async t => {
    const cwd = await folder(t, { 'timer.mjs': 'setInterval(() => {}, 1000)\nexport default async () => {}\n' })
    t.equal((await launch(t, ['--check', '--ephemeral', '--plugin', 'timer.mjs'], { cwd }).exit()).code, 0)
  })

  t.test('prints every mistake in a line of its own, and ends with 1', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'one.ts': '\nexport default tool({',
      'two.mjs': 'throw new Error("no database")',
      'three.ts': HELLO
    })
    const { code, stdout, stderr } = await launch(
      t,
      [
        '--check',
        '--ephemeral',
        '--host',
        '0.0.0.0',
        ...['one.ts', 'two.mjs', 'three.ts'].flatMap(file => ['--plugin', file])
      ],
      { cwd }
    ).exit()
    t.match({ code, stdout }, { code: 1, stdout: '' })
    const lines = stderr.split('\n').filter(line => line.startsWith('patchbay: '))
    t.match(lines, [
      /^patchbay: option host is 0\.0\.0\.0/,
      /^patchbay: .*one\.ts/,
      /^patchbay: .*two\.mjs: no database/
    ])
    t.equal(lines.length, 3)
  })

  t.test(
    'ends although a plugin never does, warns while it waits, and names the file once',
    { buffered: true },
    async t => {
      const cwd = await folder(t, {
        'endless.mjs': 'export default async () => await new Promise(() => {})',
        'top.mjs': 'await new Promise(() => {})'
      })
      await Promise.all(
        [
          ['endless.mjs', 'its function has to'],
          ['top.mjs', 'a top-level await in it']
        ].map(async ([file, advice]) => {
          const { code, stderr } = await launch(
            t,
            ['--check', '--ephemeral', '--plugin', file ?? '', '--root', join(cwd, 'none')],
            { cwd }
          ).exit()
          t.equal(code, 1)
          const [waiting = '', ...lines] = stderr
            .split('\n')
            .filter(line => line.startsWith('patchbay: '))
            .sort((one, other) => Number(other.includes('warning')) - Number(one.includes('warning')))
          t.match(waiting, `patchbay: warning: plugin ${join(cwd, file ?? '')}: still waiting for it; ${advice}`)
          t.match(lines, [
            /^patchbay: option roots: .*none is not a folder/,
            `patchbay: plugin ${join(cwd, file ?? '')}: it did not end within`
          ])
          t.equal(lines.length, 2)
        })
      )
    }
  )

  t.test('ends with 1 and a sentence, like a start, when a plugin ends the process', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'module.mjs': 'process.exit(0)',
      'function.mjs': 'export default async () => { process.exit(0) }',
      'later.mjs': 'export default async app => { app.addHook("onReady", async () => { process.exit(0) }) }'
    })
    for (const [args, file, names] of [
      [['--check'], 'module.mjs', true],
      [['--check'], 'function.mjs', true],
      [['--check'], 'later.mjs', false],
      [['--stdio'], 'module.mjs', true]
    ] as const) {
      const { code, stdout, stderr } = await launch(t, [...args, '--ephemeral', '--plugin', file], { cwd }).exit()
      t.match({ code, stdout }, { code: 1, stdout: '' })
      t.match(
        stderr,
        `patchbay: a plugin ended the process before the gateway was ready; ${names ? `it was loading ${join(cwd, file)}; ` : ''}remove process.exit() from it\n`
      )
    }
  })

  t.test('reports all mistakes in the settings', { buffered: true }, async t => {
    const cwd = await folder(t, { 'c.json': '{\n  "prot": 1,\n  "pageSize": 0\n}' })
    const { code, stderr } = await launch(t, ['--check', '--config', 'c.json'], {
      cwd,
      env: { PATCHBAY_RATE: 'x' }
    }).exit()
    t.equal(code, 1)
    t.match(stderr.trimEnd().split('\n'), [
      /^patchbay: PATCHBAY_RATE must be a whole number/,
      /^patchbay: config file .*c\.json, line 2: option "prot" does not exist; did you mean "port"\?$/,
      /^patchbay: config file .*c\.json, line 3: option pageSize must be >= 1$/
    ])
  })
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
