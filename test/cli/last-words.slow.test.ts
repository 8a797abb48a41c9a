import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { folder, initialize, launch, PROCESSES, toolCall, type Ended } from '../support/process.js'

const LINES = 2_000

/**
 * Prints more than a pipe holds, with lines of the log among it; `leave` makes a file known to the test, and goes on.
 */
const NOISE = `
import { writeFileSync } from 'node:fs'
import { tool } from 'mcp-patchbay'
const noise = log => {
  for (let line = 0; line < ${LINES}; line++) {
    console.log(('printed ' + line + ' ').padEnd(94, 'x'))
    if (line % 50 === 0) log.info({ line }, 'logged')
  }
}
const leave = () => writeFileSync('leaving', 'x')
`

const TALKS: Array<[what: string, plugin: string, code: number, last: RegExp]> = [
  [
    'a signal, and the plugin writes at the end',
    `export default async function (fastify) {
    fastify.addHook('onClose', async () => { leave(); console.log('last words of the plugin') })
    fastify.mcp.tools.add(tool({ name: 'talk', description: 'd', run: () => { noise(fastify.log); setImmediate(() => process.kill(process.pid, 'SIGTERM')) } }))
  }`,
    0,
    /^last words of the plugin$/
  ],
  [
    'the plugin ends the process',
    `export default async function (fastify) {
    process.on('exit', () => console.log('last words at the exit'))
    fastify.mcp.tools.add(tool({ name: 'talk', description: 'd', run: () => { noise(fastify.log); leave(); process.exit(7) } }))
  }`,
    7,
    /^last words at the exit$/
  ],
  [
    'an error that is not caught',
    `export default async function (fastify) {
    fastify.mcp.tools.add(tool({ name: 'talk', description: 'd', run: () => { noise(fastify.log); setImmediate(() => { leave(); throw new Error('last words of an error') }) } }))
  }`,
    1,
    /"message":"last words of an error"/
  ]
]

const FAILURES: Array<[what: string, plugin: string]> = [
  [
    'a plugin that fails',
    "export default async function (fastify) { noise(fastify.log); leave(); throw new Error('last words of a start') }"
  ],
  [
    'an error that is thrown meanwhile',
    "export default async function (fastify) { noise(fastify.log); leave(); setImmediate(() => { throw new Error('last words of a start') }); await new Promise(resolve => setTimeout(resolve, 60_000)) }"
  ]
]

/** All lines came, each of them whole. */
function expectAll (t: Test, { stderr }: Ended): void {
  const lines = stderr.split('\n')
  t.strictSame(
    lines.filter(line => /^printed \d+ x+$/.test(line) && line.length === 94).map(line => Number(line.split(' ')[1])),
    Array.from({ length: LINES }, (_, line) => line),
    'every line is there, in order'
  )
  t.equal(lines.filter(line => line.includes('printed')).length, LINES, 'and none is torn')
  t.equal(
    lines.filter(line => line.includes('"logged"')).map(line => JSON.parse(line) as object).length,
    LINES / 50,
    'nor is a line of the log'
  )
}

t.test('standard error', async t => {
  t.jobs = PROCESSES

  for (const [what, plugin, code, last] of TALKS) {
    t.test(
      `${what}: a reader that pauses gets every line that was printed or logged, and the last words`,
      { buffered: true },
      async t => {
        const cwd = await folder(t, { 'noisy.mjs': NOISE + plugin })
        const launched = await launch(t, ['--stdio', '--ephemeral', '--plugin', 'noisy.mjs'], { cwd }).up()
        launched.pauseLog()
        launched.send(initialize, toolCall(1, 'talk'))
        await until(() => existsSync(join(cwd, 'leaving')))
        launched.resumeLog()
        const ended = await launched.exit()
        t.equal(ended.code, code)
        expectAll(t, ended)
        t.ok(
          ended.stderr.split('\n').some(line => last.test(line)),
          'the last words are there'
        )
      }
    )
  }

  for (const [what, plugin] of FAILURES) {
    t.test(
      `${what} while the gateway starts: a reader that pauses gets every line, and why`,
      { buffered: true },
      async t => {
        const cwd = await folder(t, { 'noisy.mjs': NOISE + plugin })
        const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', 'noisy.mjs'], { cwd })
        launched.pauseLog()
        await until(() => existsSync(join(cwd, 'leaving')))
        launched.resumeLog()
        const ended = await launched.exit()
        t.equal(ended.code, 1)
        expectAll(t, ended)
        t.match(ended.stderr.slice(-200), /\npatchbay: [^\n]*last words of a start[^\n]*\n$/)
      }
    )
  }

  t.test(
    'a plugin that writes to standard error gets backpressure and the drain event',
    { buffered: true },
    async t => {
      const cwd = await folder(t, {
        'careful.mjs': `import { writeFileSync } from 'node:fs'
        import { once } from 'node:events'
        import { tool } from 'mcp-patchbay'
        export default tool({ name: 'talk', description: 'd', output: { type: 'object' }, run: async () => {
          let written = 0
          while (process.stderr.write('x'.repeat(1023) + '\\n') && written < 10_000) written++
          const full = { written, needDrain: process.stderr.writableNeedDrain, length: process.stderr.writableLength }
          writeFileSync('full', 'x')
          await once(process.stderr, 'drain')
          const empty = { needDrain: process.stderr.writableNeedDrain, length: process.stderr.writableLength }
          const order = []
          await Promise.all([['e9', 'hex'], ['ä', 'latin1'], ['ö', 'utf8']].map(given => new Promise(resolve => process.stderr.write(...given, error => { order.push(given[1]); resolve(error) }))))
          await new Promise(resolve => process.stdout.write(Uint8Array.of(10), resolve))
          let wrong
          try { process.stderr.write(5) } catch (error) { wrong = error.code }
          return { full, empty, order, wrong }
        } })`
      })
      const launched = await launch(t, ['--stdio', '--ephemeral', '--plugin', 'careful.mjs', '--log-level', 'silent'], {
        cwd
      }).up()
      launched.pauseLog()
      launched.send(initialize, toolCall(1, 'talk'))
      await until(() => existsSync(join(cwd, 'full')))
      launched.resumeLog()
      await launched.next()
      const {
        result: {
          structuredContent: { full, ...rest }
        }
      } = (await launched.next()) as {
        result: { structuredContent: { full: { written: number, needDrain: boolean, length: number } } }
      }
      t.match(full, { needDrain: true })
      t.ok(full.written < 10_000 && full.length >= 16_384, `${full.written} lines and ${full.length} bytes`)
      t.strictSame(rest, {
        empty: { needDrain: false, length: 0 },
        order: ['hex', 'latin1', 'utf8'],
        wrong: 'ERR_INVALID_ARG_TYPE'
      })
      launched.end()
      t.match((await launched.exit()).stderr, /x\n\ufffd\ufffd\u00f6\n$/)
    }
  )

  t.test('standard error that is a file gets everything, too', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'noisy.mjs': `${NOISE}export default async function (fastify) { noise(fastify.log); throw new Error('last words of a start') }`
    })
    const file = join(cwd, 'log')
    const { code } = await launch(t, ['--ephemeral', '--plugin', 'noisy.mjs'], { cwd, log: file }).exit()
    t.equal(code, 1)
    const stderr = readFileSync(file, 'utf8')
    expectAll(t, { code, signal: null, stdout: '', stderr })
    t.match(stderr.slice(-200), /\npatchbay: [^\n]*last words of a start[^\n]*\n$/)
  })
})
