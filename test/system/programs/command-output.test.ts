import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { commandOutput, splitWords } from '../../../system/programs/command-output.js'
import { isRunning } from '../../support/processes.js'
import { folder } from '../../support/process.js'
import { until } from '../../support/wait.js'

const around = { env: { PATH: process.env['PATH'], KEY: 'of the environment' }, folder: '/' }
const node = (code: string): string => `'${process.execPath}' -e '${code}'`

t.test('spaces separate the words of a command line, and quotes keep them together', async t => {
  for (const [line, words] of [
    ['op read op://vault/item/field', ['op', 'read', 'op://vault/item/field']],
    ['  a\tb\n c ', ['a', 'b', 'c']],
    ['a "b c" \'d "e"\' ""', ['a', 'b c', 'd "e"', '']],
    ['--name="b c"\'d\'', ['--name=b cd']],
    ['a $HOME `b` $(c) | d > e \\ f', ['a', '$HOME', '`b`', '$(c)', '|', 'd', '>', 'e', '\\', 'f']],
    ['', []]
  ] as Array<[string, string[]]>) t.strictSame(splitWords(line), words, line)
  for (const line of ['a "b', "a 'b c", 'it"s']) {
    t.throws(() => splitWords(line), { message: /^has a \$\{command:…\} with a quote that is not closed$/ }, line)
  }
})

t.test('what a program prints is taken without the line break at its end', async t => {
  t.equal(await commandOutput(node('console.log("a b"); console.error("x")'), around), 'a b')
  t.equal(await commandOutput(node('process.stdout.write("a\\r\\nb\\n\\n")'), around), 'a\r\nb\n')
  t.equal(await commandOutput(node('console.log(process.env.KEY)'), around), 'of the environment')
  t.equal(await commandOutput(node('console.log(process.cwd())'), around), '/')
})

t.test('a program that fails is named, and what it printed is not', async t => {
  const place = await folder(t, { text: 'no program' })
  for (const [line, message] of [
    ['no-such-program-of-ours a', 'needs the program no-such-program-of-ours, which is not there; name it by its path, or put its folder into PATH'],
    [`'${place}/text'`, /text, which this user may not run$/],
    [' ', /^has a \$\{command:…\} without a program$/],
    [node('console.log("s3cret"); console.error("s3cret"); process.exit(3)'), /which ended with exit code 3; run it in a terminal to see why$/],
    [node('process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)'), /which was ended by signal SIGTERM$/],
    [node('console.log("s3cret".repeat(20000)); setInterval(() => {}, 1000)'), /which printed more than 65536 bytes$/],
    [node('process.stdout.write(Buffer.from([0xff, 0xfe]))'), /which printed no text in UTF-8$/],
    [node('console.log("")'), /which printed nothing$/]
  ] as Array<[string, string | RegExp]>) {
    const error = await commandOutput(line, around).then(() => new Error('none'), (error: Error) => error)
    t.match(error.message, message)
    t.notMatch(error.message, /s3cret\b(?!")/)
  }
})

t.test('a program that takes too long is killed, with what it started', async t => {
  const place = await folder(t, {
    'run.mjs': `import { spawn } from 'node:child_process'
      import { writeFileSync } from 'node:fs'
      const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
      writeFileSync('pids', process.pid + ' ' + pid)
      setInterval(() => {}, 1000)`
  })
  const options = { ...around, folder: place, timeout: 3_000 }
  await t.rejects(commandOutput(`'${process.execPath}' run.mjs`, options), { message: /which took longer than 3 seconds$/ })
  for (const pid of (await readFile(join(place, 'pids'), 'utf8')).split(' ')) await until(() => !isRunning(Number(pid)))
})
