import t from 'tap'
import type { Json } from '../../../console/client/contract.js'
import { secretsIn } from '../../../console/forms/model/secret.js'
import { shapeOf } from '../../../console/forms/model/shape.js'

t.test('a field that may be a secret, by a pattern that is not tested, is one', async t => {
  const schema: Json = {
    patternProperties: { '^[a-z]+-[a-z]+$': { type: 'string' } },
    additionalProperties: { type: 'string', writeOnly: true }
  }
  t.same(secretsIn({ token: 'x' }, schema), ['/token'])
})

t.test('variants are named by the field that tells them apart, wherever it stands', async t => {
  const common = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, { type: 'string' }]))
  const variant = (kind: string): Json => ({ properties: { ...common, kind: { const: kind } }, required: ['kind'] })
  const schema: Json = { oneOf: [variant('cat'), variant('dog')] }
  t.same(shapeOf(schema, schema).variants.map(({ name }) => name), ['kind: cat', 'kind: dog'])
})

t.test('many titled values are choices, also with null and as lists of one', async t => {
  const values = Array.from({ length: 150 }, (_, index) => `v${index}`)
  const consts: Json = { oneOf: [...values.map(value => ({ const: value, title: value })), { type: 'null' }] }
  const { kind, nullable, choices } = shapeOf(consts, consts)
  t.same([kind, nullable, choices.length], ['choice', true, 150])
  const enums: Json = { anyOf: values.map(value => ({ enum: [value], title: value })) }
  t.same([shapeOf(enums, enums).kind, shapeOf(enums, enums).choices.length], ['choice', 150])
})

t.test('plain fields stay what they are where a schema has more parts than are put together', async t => {
  const base = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`b${index}`, { type: 'string' }]))
  const union: Json = {
    properties: base,
    oneOf: Array.from({ length: 60 }, (_, index) => ({ properties: { [`v${index}`]: { type: 'string' } } }))
  }
  const root: Json = {
    type: 'object',
    $defs: { union },
    properties: {
      ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, { $ref: '#/$defs/union' }])),
      last: { type: 'string' }
    }
  }
  const properties = root['properties'] as Record<string, Json>
  const kinds = Object.values(properties).map(schema => shapeOf(schema, root).kind)
  t.equal(kinds.at(-1), 'text')
})
