import t from 'tap'
import { queryArguments } from '../../../transports/rest/query-arguments.js'

t.test('a schema that refers to itself in many places is looked at once', async t => {
  // Eight ways at each of eight levels were seventeen million.
  const part = { anyOf: [{ type: 'integer' }, ...Array.from({ length: 40 }, () => ({ $ref: '#/$defs/part' }))] }
  const schema = {
    properties: { one: { $ref: '#/$defs/part' }, many: { type: 'array', items: { $ref: '#/$defs/part' } } },
    $defs: { part }
  }
  t.same(queryArguments({ one: '7', many: ['1', 'two'] }, schema), { one: 7, many: [1, 'two'] })
})

t.test('a number that JSON cannot have stays a text, which is refused by name', async t => {
  t.same(queryArguments({ n: '1e999' }, { properties: { n: { type: 'number' } } }), { n: '1e999' })
})
