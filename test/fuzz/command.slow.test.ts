import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { TARGETS } from './case.js'
import { readCommand } from './command.js'

t.test('mistakes on the command line are reported', async t => {
  t.throws(() => readCommand(['--target', 'x']), /--target must be one of dispatcher, http/)
  t.throws(() => readCommand(['--count', '0']), /--count must be a number above 0/)
  t.match(readCommand([]), { count: 200_000, targets: TARGETS })
  t.match(readCommand(['--minutes', '5']), { count: Infinity, minutes: 5 })
})

t.test('the command ends with what it found: 0 when that is nothing', async t => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('run.js', import.meta.url)), '--seed', '7', '--count', '300', '--target', 'dispatcher'],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => { printed += String(chunk) })
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.match(
    printed,
    /^fuzz: seed 7\ndispatcher +\d+ new and \d+ known inputs .*\nfuzz: \d+ new inputs and \d+ known ones, 0 findings \(seed 7\)\n$/
  )
  const [, fresh = 0, known = 0] = /(\d+) new inputs and (\d+) known/.exec(printed)?.map(Number) ?? []
  t.ok(known > 300, `${known} known inputs`)
  t.ok(fresh >= 300 && fresh < 600, `${fresh} new inputs: what --count says, and the rest of the last batch`)
})
