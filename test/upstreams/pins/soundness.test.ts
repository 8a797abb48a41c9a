import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { compareEntries } from '../../../upstreams/pins/differences.js'

type Json = Record<string, unknown>
type Check = (value: unknown) => boolean | undefined

const LENIENT = { strict: false, validateSchema: false, logger: false, validateFormats: false } as const
const MAX = Number.MAX_SAFE_INTEGER

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more })
const one = (schema: unknown, more: Json = {}): Json => object({ a: schema }, more)

/** Values of the argument `a`. */
const VALUES: unknown[] = [
  undefined, null, true, -1, 0, 1, 2, 1.5, 'PATH', 'x', 'xyz', '', [], [1], ['x'], [1, 2, 3], ['x', 'x'], [{}], {},
  { p: 1 }, { p: 'x' }, { p: 1, q: 'x' }, { q: 0 }, { r: 'x' }, { PATH: 'y' }, { id: 1 }, { p: { p: 1 } }, { xa: 1 }
]

/** Schemas of which each allows less or other values than its neighbour, in ways that are hard to see. */
const PAIRS: Array<[before: Json, after: Json]> = [
  [one({ type: 'string' }), one({ type: 'string', minLength: MAX })],
  [one({ type: 'number' }), one({ type: 'number', maximum: -MAX })],
  [one({}), one({ minProperties: 1e300 })],
  [one({}), one({ minimum: MAX })],
  [one({ maxItems: -MAX }), one({ maxItems: -MAX - 1, minItems: 0 })],
  [one({ oneOf: [{ type: 'integer' }] }), one({ oneOf: [{ type: 'integer' }, { type: 'number' }] })],
  [one({ oneOf: [{ const: 1 }, { type: 'string' }] }), one({ oneOf: [{ const: 1 }, { type: ['string', 'number'] }] })],
  [one({ oneOf: [{ const: 1 }] }), one({ oneOf: [{ const: 1 }, { const: 1 }] })],
  [one({ oneOf: [{ type: 'object', properties: {} }, { required: ['q'] }] }), one({ oneOf: [{ type: 'object', properties: { p: false } }, { required: ['q'] }] })],
  [one({ not: { $ref: '#/$defs/x' } }, { $defs: { x: { const: 1 } } }), one({ not: { $ref: '#/$defs/x' } }, { $defs: { x: { enum: [1, 2] } } })],
  [
    one({ if: { $ref: '#/definitions/x' }, then: { minimum: 5 } }, { definitions: { x: { const: 1 } } }),
    one({ if: { $ref: '#/definitions/x' }, then: { minimum: 5 } }, { definitions: { x: { type: 'number' } } })
  ],
  [
    object({ a: { not: { $ref: '#/properties/b' } }, b: { const: 1 } }),
    object({ a: { not: { $ref: '#/properties/b' } }, b: { enum: [1, 2] } })
  ],
  [one({ oneOf: [{ $ref: '#/$defs/x' }, { const: 2 }] }, { $defs: { x: { const: 1 } } }), one({ oneOf: [{ $ref: '#/$defs/x' }, { const: 2 }] }, { $defs: { x: {} } })],
  [one({}), one({ contains: {} })],
  [one({ contains: { const: 1 }, maxContains: 1 }), one({ contains: { type: 'number' }, maxContains: 1 })],
  [one({ contains: { const: 'y' }, minContains: 0 }), one({ contains: { const: 'y' } })],
  [one({ $ref: '#/x-defs/s' }, { 'x-defs': { s: {} } }), one({ $ref: '#/x-defs/s' }, { 'x-defs': { s: { const: 1 } } })],
  [one({ $ref: '#/default/s' }, { default: { s: {} } }), one({ $ref: '#/default/s' }, { default: { s: false } })],
  [one({ $ref: '#/examples/0' }, { examples: [{}] }), one({ $ref: '#/examples/0' }, { examples: [{ const: 1 }] })],
  [one({ $ref: '#/x-defs/s%20t' }, { 'x-defs': { 's t': {} } }), one({ $ref: '#/x-defs/s%20t' }, { 'x-defs': { 's t': false } })],
  [
    one({ $ref: 'a:b#/$defs/x' }, { $id: 'a:b', $defs: { x: {}, y: { $id: 'a:c', $defs: { x: false } } } }),
    one({ $ref: 'a:b#/$defs/x' }, { $id: 'a:d', $defs: { x: {}, y: { $id: 'a:b', $defs: { x: false } } } })
  ],
  [
    one({ properties: { p: { $ref: '#/$defs/x' } }, $defs: { x: false } }, { $defs: { x: {} } }),
    one({ properties: { p: { $ref: '#/$defs/x' } }, $defs: { x: false }, $id: 'a:b' }, { $defs: { x: {} } })
  ],
  [one({ $ref: '#/$defs/x', minLength: 2 }, { $defs: { x: {} } }), one({ minLength: 2 }, { $defs: { x: {} } })],
  [one({ additionalProperties: true, unevaluatedProperties: false }), one({ unevaluatedProperties: false })],
  [
    one({ allOf: [{ properties: { p: {} } }], unevaluatedProperties: false }),
    one({ allOf: [{}], unevaluatedProperties: false })
  ],
  [one({ anyOf: [{ properties: { p: {} } }, {}], unevaluatedProperties: false }), one({ anyOf: [{ properties: { p: { type: 'string' } } }, {}], unevaluatedProperties: false })],
  [
    one({ $ref: '#/$defs/x', unevaluatedProperties: false }, { $defs: { x: { additionalProperties: true } } }),
    one({ $ref: '#/$defs/x', unevaluatedProperties: false }, { $defs: { x: {} } })
  ],
  [one({ additionalProperties: { type: 'string' } }), one({ additionalProperties: { type: 'string' }, properties: { PATH: { enum: ['x'] } } })],
  [one({ type: 'object' }), one({ type: 'object', properties: { id: false } })],
  [one({ patternProperties: { '^x': {} }, additionalProperties: false }), one({ additionalProperties: false })],
  [one({ patternProperties: { '^x': {} }, additionalProperties: false }), one({ patternProperties: { '^x': {} }, additionalProperties: false, properties: { xa: false } })],
  [one({ prefixItems: [{}], items: false }), one({ items: false })],
  [one({ type: 'string', nullable: true }), one({ type: 'string' })],
  [object({ a: { $ref: '#/properties/b/anyOf/0' }, b: { anyOf: [{}, { type: 'null' }] } }), object({ a: { $ref: '#/properties/b/anyOf/0' }, b: { anyOf: [{ type: 'null' }, {}, { const: 1 }] } })]
]

/** Says what is valid; undefined for a schema that does not compile. */
function checkOf (schema: Json, engine: Ajv): Check | undefined {
  const validate = attempt(() => engine.compile(schema))
  return validate && (value => attempt(() => validate(value)))
}

/** The result; undefined where there is none: some schemas are too much for the compiler, and some for its code. */
function attempt<T> (work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The arguments that show that a change breaks what it is not said to break. */
function counterexamples (before: Json, after: Json, values: readonly unknown[]): string[] {
  const found: string[] = []
  for (const engine of [new Ajv2020(LENIENT), new Ajv(LENIENT)]) {
    const [was, is] = [checkOf(before, engine), checkOf(after, engine)]
    if (was === undefined || is === undefined) continue
    for (const a of values) {
      const value = a === undefined ? {} : { a }
      const [old, now] = [was(value), is(value)]
      const lost = { inputSchema: old === true && now === false, outputSchema: now === true && old === false }
      for (const [member, isNew] of Object.entries(lost)) {
        if (isNew && compareEntries('tools', 'x', { [member]: before }, { [member]: after })?.isBreaking === false) {
          found.push(`${member} ${JSON.stringify(value)}`)
        }
      }
    }
  }
  return found
}

t.test('a change that refuses what was valid is breaking, and so is a result that was not possible', async t => {
  for (const [one, other] of PAIRS) {
    for (const [before, after] of [[one, other], [other, one]] as const) {
      t.strictSame(counterexamples(before, after, VALUES), [], JSON.stringify([before, after]))
    }
  }
})

/** A generator of the same numbers each time. */
function generator (seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 2_147_483_648 * below)
  }
}

const BOUNDS = [
  'minimum', 'maximum', 'exclusiveMinimum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties',
  'maxProperties', 'minContains', 'maxContains'
]
const INNER = [
  'additionalProperties', 'unevaluatedProperties', 'items', 'contains', 'not', 'if', 'then', 'else', 'propertyNames'
]
const LISTS = ['prefixItems', 'anyOf', 'oneOf', 'allOf']

/** Schemas of random keywords; of the properties of an object, all or none are there. */
class Schemas {
  readonly #below: (below: number) => number

  constructor (seed: number) {
    this.#below = generator(seed)
  }

  next (depth = 2): unknown {
    if (this.#below(12) === 0) return this.#below(2) === 0
    return Object.fromEntries(Array.from({ length: this.#below(4) }, () => this.#keyword(depth)))
  }

  /** The schema with a change somewhere. */
  change (schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null || this.#below(4) === 0) return this.next(1)
    const keys = Object.keys(schema)
    const [key, value] = this.#keyword(1)
    if (keys.length === 0 || this.#below(3) === 0) return { ...schema, [key]: value }
    const picked = keys[this.#below(keys.length)] ?? ''
    const member = (schema as Json)[picked]
    if (this.#below(4) === 0) return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== picked))
    if (Array.isArray(member) && picked.endsWith('Of')) {
      const list = member.map(item => this.#below(2) === 0 ? this.change(item) : item)
      return { ...schema, [picked]: this.#below(3) === 0 ? [...list, this.next(1)] : list }
    }
    if (INNER.includes(picked)) {
      return { ...schema, [picked]: this.change(member) }
    }
    if (picked === 'properties') return { ...schema, properties: { ...member as Json, p: this.change((member as Json).p) } }
    const [, again] = this.#keyword(1, picked)
    return { ...schema, [picked]: again }
  }

  #keyword (depth: number, wanted?: string): [string, unknown] {
    const pick = <T>(...of: T[]): T => of[this.#below(of.length)] as T
    const inner = (): unknown => depth > 0 ? this.next(depth - 1) : {}
    const list = (): unknown[] => Array.from({ length: 1 + this.#below(3) }, inner)
    const all: Record<string, () => unknown> = {
      ...Object.fromEntries(BOUNDS.map(key => [key, () => this.#below(4)])),
      ...Object.fromEntries(INNER.map(key => [key, inner])),
      ...Object.fromEntries(LISTS.map(key => [key, list])),
      type: () => pick<unknown>('string', 'number', 'integer', 'object', 'array', ['string', 'null'], ['integer', 'object']),
      enum: () => pick<unknown>([1], [1, 'x'], ['x', 'xyz', null], [0, 1, 2]),
      const: () => pick<unknown>(1, 'x'),
      uniqueItems: () => pick(true, false),
      required: () => pick(['p'], ['q'], ['p', 'q'], []),
      properties: () => Object.fromEntries(['p', 'q', 'r', 'PATH', 'id', 'xa'].map(name => [name, inner()])),
      patternProperties: () => ({ '^x': inner() }),
      $ref: () => pick('#/$defs/x', '#/$defs/y', '#/x-defs/z', '#/properties/b')
    }
    const names = Object.keys(all)
    const name = wanted ?? names[this.#below(names.length)] ?? 'type'
    return [name, all[name]?.()]
  }
}

t.test('no change of random schemas is called harmless that is breaking', async t => {
  const schemas = new Schemas(Number(process.env.PINS_SEED ?? 7))
  const count = Number(process.env.PINS_CASES ?? 400)
  let harmless = 0
  for (let index = 0; index < count; index++) {
    const places = [schemas.next(), schemas.next(1), schemas.next(1), schemas.next(1), schemas.next(1)]
    const changed = places.map((schema, place) => place === index % 5 ? schemas.change(schema) : schema)
    const [before = {}, after = {}] = [places, changed].map(([a, b, x, y, z]) =>
      object({ a, b }, { $defs: { x, y }, 'x-defs': { z } }))
    t.strictSame(counterexamples(before, after, VALUES), [], `${index}: ${JSON.stringify([before, after])}`)
    if (compareEntries('tools', 'x', { inputSchema: before }, { inputSchema: after })?.isBreaking === false) harmless++
  }
  t.ok(harmless > count / 20, `${harmless} of ${count} are harmless`)
})
