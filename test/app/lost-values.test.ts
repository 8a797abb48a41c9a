import t, { type Test } from 'tap'
import { createClient, tool } from '../../app.js'
import { gateway } from '../support/gateway.js'

/** Calls a tool that returns these values, one after the other, and gives what was logged at level warn. */
async function warnings (t: Test, ...values: unknown[]): Promise<string[]> {
  const lines: string[] = []
  const app = await gateway(
    t,
    { http: false },
    {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push((JSON.parse(line) as { msg: string }).msg)
          }
        }
      }
    }
  )
  let turn = 0
  app.mcp.tools.add(tool({ name: 'it', description: 'd', run: () => values[turn++] as object }))
  const { request } = await createClient(app)
  for (let count = 0; count < values.length; count++) await request('tools/call', { name: 'it' })
  return lines
}

class Empty { #secret = 1; get secret (): number { return this.#secret } }
class Fields { shown = 1 }
class Worded extends Empty { toJSON (): string { return 'worded' } }

const LOST: Array<[what: string, value: unknown, sentence: string]> = [
  ['a Map', new Map([['a', 1]]), 'a Map, of which JSON keeps nothing; return Object.fromEntries(map)'],
  ['a Set', new Set([1]), 'a Set, of which JSON keeps nothing; return [...set]'],
  ['a Date', new Date(0), 'a Date, which arrives as text in quotes; return date.toISOString()'],
  [
    'a promise of a Map',
    Promise.resolve(new Map()),
    'a Map, of which JSON keeps nothing; return Object.fromEntries(map)'
  ],
  [
    'a Buffer',
    Buffer.from('x'),
    "bytes, which JSON cannot hold; return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: 'image/png' }, or text"
  ],
  [
    'a typed array',
    new Float64Array(2),
    "bytes, which JSON cannot hold; return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: 'image/png' }, or text"
  ],
  ['an Error', new TypeError('x'), 'an Error, of which JSON keeps nothing; throw new ToolError(error.message)'],
  [
    'an object without fields',
    new Empty(),
    'an instance of Empty, of which JSON keeps nothing; return an object with its values, or give the class a toJSON()'
  ],
  [
    'a Map in an object',
    { scores: new Map() },
    'in "scores" a Map, of which JSON keeps nothing; return Object.fromEntries(map)'
  ],
  ['a forgotten promise in a list', [1, Promise.resolve(2)], 'in "1" a Promise, of which JSON keeps nothing; await it']
]

for (const [what, value, sentence] of LOST) {
  t.test(`a tool that returns ${what} is warned about in the log`, async t => {
    t.strictSame(await warnings(t, value), [`tool "it" returned ${sentence}`])
  })
}

t.test('once for each tool', async t => {
  t.equal((await warnings(t, new Map(), new Map(), new Set())).length, 1)
  t.equal((await warnings(t, 'text', { a: 1 }, new Map())).length, 1)
})

t.test('members are looked at in the first result only', async t => {
  t.strictSame(await warnings(t, { a: 1 }, { a: new Map() }), [])
})

t.test('only the first hundred results are looked at, so that later calls cost nothing', async t => {
  t.equal((await warnings(t, ...Array.from({ length: 99 }, () => ({})), new Map())).length, 1)
  t.strictSame(await warnings(t, ...Array.from({ length: 100 }, () => ({})), new Map()), [])
})

t.test('what JSON can hold is not warned about', async t => {
  for (const value of [
    'text',
    1,
    null,
    undefined,
    {},
    [],
    { a: new Date(0) },
    Object.create(null),
    new Fields(),
    new Worded(),
    new (class extends Array {})(),
    { content: [] }
  ]) {
    t.strictSame(await warnings(t, value), [])
  }
})

t.test('a tool with an output schema is warned about, too, before the schema refuses the value', async t => {
  const lines: string[] = []
  const app = await gateway(
    t,
    { http: false, audit: false },
    {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  )
  app.mcp.tools.add(
    tool({ name: 'it', description: 'd', output: { type: 'object', required: ['a'] }, run: () => new Map([['a', 1]]) })
  )
  await t.rejects((await createClient(app)).request('tools/call', { name: 'it' }))
  t.match(lines[0], /returned a Map, of which JSON keeps nothing/)
})
