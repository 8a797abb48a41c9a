import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { digest, fromRow, TARGETS } from './case.js'
import { keepFinding, readRows } from './corpus.js'
import { generate } from './generate.js'
import { SEED } from './short.js'

t.test('the same seed makes the same inputs, another one others', async t => {
  const first = (seed: string) =>
    TARGETS.flatMap(name => Array.from({ length: 50 }, (_none, index) => digest(generate(name, seed, index, []))))
  t.strictSame(first('a'), first('a'))
  t.equal(new Set([...first('a'), ...first('b')]).size > 480, true, 'hardly any input comes twice')
})

t.test('a case is the same after it was kept', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-fuzz-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of TARGETS) {
    for (let index = 0; index < 30; index++) {
      const input = generate(name, SEED, index, [])
      const [row] = readRows(keepFinding(input, 'why', folder))
      t.strictSame(row === undefined ? undefined : fromRow(row), input)
    }
  }
})
