import t from 'tap'
import { chooseControl } from '../../../console/forms/model/controlled.js'
import { shapeOf } from '../../../console/forms/model/shape.js'
import type { Value } from '../../../console/forms/model/value.js'

const kindOf = (type: string, value: Value): string => chooseControl(shapeOf({ type }, true), value, 0).kind
const items = (count: number): Value[] => Array.from({ length: count }, (_, index) => index)
const fields = (count: number): Value => new Map(items(count).map((value, index) => [String(index), value]))

t.test('a value with many parts is written as JSON, not in a field for each', async t => {
  t.strictSame([kindOf('array', items(500)), kindOf('array', items(501))], ['array', 'json'])
  t.strictSame([kindOf('object', fields(500)), kindOf('object', fields(501))], ['object', 'json'])
})

t.test('a value of another type is written as JSON', async t => {
  t.strictSame(
    [kindOf('array', 'x'), kindOf('object', 1), kindOf('string', 'a\u0000'), kindOf('string', 'a')],
    ['json', 'json', 'json', 'text']
  )
})

t.test('an object with many declared fields is written as JSON, too', async t => {
  const schemaOf = (count: number) => ({
    type: 'object',
    properties: Object.fromEntries(items(count).map(name => [`f${String(name)}`, { type: 'string' }]))
  })
  const kinds = [500, 501].map(count => chooseControl(shapeOf(schemaOf(count), true), new Map(), 0).kind)
  t.strictSame(kinds, ['object', 'json'])
})
