import { join } from 'node:path'
import t from 'tap'
import { folder, launch, PROCESSES } from '../support/process.js'

const HELLO =
  "import { tool } from 'mcp-patchbay'\nconsole.log('printed by a plugin')\nexport default tool({ name: 'hello', description: 'd', run: () => 'hi' })\n"

t.test('patchbay --check', async t => {
  t.jobs = PROCESSES

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
