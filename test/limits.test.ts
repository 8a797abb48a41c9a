import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { Options } from '../options.js'
import { Limits } from '../options/limits.js'

const ROOT = new URL('../../', import.meta.url)
const OTHERS = new Set(['rate', 'burst', 'toolRates', 'grace', 'pageSize'])
const isLimit = (name: string): boolean =>
  /^max[A-Z]|Timeout(Max)?$|Deadline$|Idle$|Lifetime$/.test(name) || OTHERS.has(name)

const limits = [
  ...Object.entries(Options.properties).filter(([name]) => isLimit(name)),
  ...Object.entries(Limits.properties)
]
const rows = readFileSync(new URL('docs/limits.md', ROOT), 'utf8')
  .split('\n')
  .map(line => /^\| (?:\*\*)?`(\w+)`(\*\*)? \| (\S*) ?\|/.exec(line))
  .filter(row => row !== null)

t.test('docs/limits.md has a row for every limit, with its default, and for nothing else', async t => {
  const shown = (preset: unknown): string => typeof preset === 'number' ? String(preset) : ''
  t.ok(limits.length > 35)
  t.strictSame(
    Object.fromEntries(rows.map(([, name, , preset]) => [name, preset])),
    Object.fromEntries(limits.map(([name, schema]) => [name, shown(schema.default)]))
  )
  t.equal(new Set(rows.map(([, name]) => name)).size, rows.length, 'once each')
  for (const [, name = '', bold] of rows) {
    t.equal(
      bold !== undefined,
      Object.hasOwn(Options.properties, name),
      `${name} is ${bold === undefined ? 'not ' : ''}an option of its own`
    )
  }
})

t.test('every limit is set to something else by a test, which sees what happens beyond it', async t => {
  const tests = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => readFileSync(new URL(`test/${file.replaceAll('\\', '/')}`, ROOT), 'utf8'))
  for (const [name] of limits) {
    const variable = `PATCHBAY_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
    const sets = new RegExp(`\\b${name}[:=]|\\b${variable}\\b`)
    t.ok(tests.some(text => sets.test(text)), name)
  }
})
