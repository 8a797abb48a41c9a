type Json = Record<string, unknown>

export const DIALECTS = {
  draft4: 'http://json-schema.org/draft-04/schema#',
  draft7: 'http://json-schema.org/draft-07/schema#',
  draft2019: 'https://json-schema.org/draft/2019-09/schema',
  draft2020: 'https://json-schema.org/draft/2020-12/schema',
  undeclared: undefined
} as const

export type Dialect = keyof typeof DIALECTS

const NAMES = ['a', 'b', 'c', 'required', 'definitions', 'x~/y']
const TYPES = ['object', 'string', 'number', 'integer', 'boolean', 'null', 'array']
const LEAVES: readonly unknown[] = [null, true, false, 0, 1, -1, 2.5, 7, '', 'a', 'xyz', 'A1']
const ODD: ReadonlyArray<readonly [key: string, value: unknown]> = [
  ['type', 'Object'],
  ['type', 'STRING'],
  ['type', 'any'],
  ['type', null],
  ['required', null],
  ['required', [1, 'a', 'a']],
  ['required', true],
  ['properties', null],
  ['properties', []],
  ['enum', null],
  ['enum', []],
  ['items', null],
  ['minimum', '1'],
  ['maxLength', -1],
  ['pattern', '['],
  ['patternProperties', { '(': { type: 'string' } }],
  ['anyOf', []],
  ['allOf', null],
  ['oneOf', [null, { type: 'string' }]],
  ['additionalProperties', null],
  ['$ref', '#/nowhere'],
  ['$ref', 'https://example.com/other.json'],
  ['title', null],
  ['description', 7],
  ['nullable', true],
  ['id', 'x'],
  ['examples', 1],
  ['not', null],
  ['if', null],
  ['exclusiveMinimum', true],
  ['dependencies', { a: 'b' }],
  ['$async', true],
  ['formatMinimum', 'a'],
  ['$vocabulary', { $anchor: '?' }],
  ['x-a', { $anchor: 'a' }],
  ['x-a', { b: { $id: 'https://example.com/x' } }],
  ['x-a', { b: 1 }],
  ['pattern', `^${'a?'.repeat(600)}$`],
  ['patternProperties', { [`^${'a?'.repeat(600)}$`]: { type: 'string' } }],
  ['$ref', '#/$defs/%zz'],
  ['pattern', '^[\\p{L}]*$'],
  ['properties', { '\ud800': { type: 'string' } }]
]

/** Random schemas and values, the same for the same seed. */
export class RandomSchemas {
  #state: number
  /** Above 0 inside a property: only there may a schema refer to itself, or checking it would not end. */
  #inside = 0
  #isDefining = false
  #resources = 0

  constructor (seed: number) {
    this.#state = seed
  }

  below (count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }

  pick<T> (list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** A schema as a server might have it; with `isOdd`, some of it is what no dialect allows. */
  root (dialect: Dialect, isOdd: boolean): Json {
    const depth = 1 + this.below(3)
    const root = this.#schema(dialect, depth, isOdd) as Json
    if (this.below(3) > 0) root.type = 'object'
    if (this.below(3) === 0) {
      root[this.pick(['anyOf', 'oneOf', 'allOf'])] = [1, 2, 3]
        .slice(this.below(2))
        .map(() => this.#object(dialect, depth, isOdd))
    }
    this.#isDefining = true
    root[dialect === 'draft4' || dialect === 'draft7' ? 'definitions' : '$defs'] = {
      d: this.#schema(dialect, 1, isOdd),
      e: this.#object(dialect, 1, isOdd)
    }
    this.#isDefining = false
    if (DIALECTS[dialect] !== undefined) root.$schema = DIALECTS[dialect]
    return root
  }

  value (depth = 2): unknown {
    const kind = depth === 0 ? 0 : this.below(4)
    if (kind === 1) return Array.from({ length: this.below(4) }, () => this.value(depth - 1))
    return kind === 2 ? this.object(depth) : this.pick(LEAVES)
  }

  object (depth = 2): Json {
    return Object.fromEntries(NAMES.filter(() => this.below(2) === 0).map(name => [name, this.value(depth - 1)]))
  }

  #object (dialect: Dialect, depth: number, isOdd: boolean): Json {
    return {
      ...(this.below(2) === 0 ? { type: 'object' } : {}),
      properties: this.#byName(dialect, depth, isOdd),
      ...(this.below(2) === 0 ? { required: [this.pick(NAMES)] } : {}),
      ...(this.below(3) === 0 ? { additionalProperties: false } : {}),
      ...(this.below(6) === 0 ? this.#reference(dialect) : {}),
      ...(this.below(8) === 0 && this.#inside < 2 ? this.#resource(dialect) : {})
    }
  }

  #byName (dialect: Dialect, depth: number, isOdd: boolean): Json {
    this.#inside++
    const byName = Object.fromEntries(
      NAMES.filter(() => this.below(2) === 0).map(name => [name, this.#schema(dialect, depth - 1, isOdd)])
    )
    this.#inside--
    return byName
  }

  #reference (dialect: Dialect): Json {
    if (this.#inside === 0 && this.#isDefining) return {}
    const definitions =
      dialect === 'draft4' || dialect === 'draft7' ? ['#/definitions/d', '#/definitions/e'] : ['#/$defs/d', '#/$defs/e']
    return { $ref: this.pick(this.#inside === 0 ? definitions : [...definitions, '#']) }
  }

  /** A name, and definitions that references without a name now mean. */
  #resource (dialect: Dialect): Json {
    if (dialect === 'draft4' || dialect === 'draft7' || this.#isDefining) return {}
    return {
      $id: `https://example.com/${this.#resources++}/`,
      $defs: { d: { type: this.pick(TYPES) }, e: { type: 'object', maxProperties: this.below(4) } }
    }
  }

  #schema (dialect: Dialect, depth: number, isOdd: boolean): Json | boolean {
    if (depth <= 0) return this.#leaf(dialect, isOdd)
    const schema: Json = this.below(2) === 0 ? this.#object(dialect, depth, isOdd) : this.#leaf(dialect, isOdd)
    for (let count = this.below(3); count > 0; count--) Object.assign(schema, this.#part(dialect, depth, isOdd))
    return schema
  }

  #leaf (dialect: Dialect, isOdd: boolean): Json {
    const schema: Json = this.pick<() => Json>([
      () => ({ type: this.pick(TYPES) }),
      () => ({ type: [this.pick(TYPES), 'null'] }),
      () => ({ enum: [this.pick(LEAVES), this.pick(LEAVES)] }),
      () => ({ type: 'string', minLength: this.below(3) }),
      () => ({ minimum: this.below(3), ...(dialect === 'draft4' ? { exclusiveMinimum: this.below(2) === 0 } : {}) }),
      () => ({ maxProperties: 1 + this.below(3) }),
      () => ({ pattern: '^[a-z]*$' }),
      () => this.#reference(dialect),
      () => ({ const: this.pick(LEAVES) })
    ])()
    if (isOdd && this.below(8) === 0) {
      const [key, value] = this.pick(ODD)
      schema[key] = value
    }
    return schema
  }

  #part (dialect: Dialect, depth: number, isOdd: boolean): Json {
    const inner = (): Json | boolean => this.#schema(dialect, depth - 1, isOdd)
    const isOld = dialect === 'draft4' || dialect === 'draft7'
    return this.pick<() => Json>([
      () => ({ anyOf: [inner(), inner()] }),
      () => ({ oneOf: [inner(), inner()] }),
      () => ({ allOf: [inner(), inner()] }),
      () => ({ not: inner() }),
      () => ({ if: inner(), then: inner(), else: inner() }),
      () => ({ patternProperties: { '^[ab]$': inner() } }),
      () => ({ additionalProperties: inner() }),
      () => ({ propertyNames: inner() }),
      () => ({ items: inner() }),
      () => ({ contains: inner(), maxContains: 1 }),
      () =>
        isOld || dialect === 'draft2019'
          ? { items: [inner(), inner()], additionalItems: this.below(2) === 0 ? false : inner() }
          : { prefixItems: [inner(), inner()] },
      () =>
        isOld
          ? { dependencies: { a: ['b'], b: inner() } }
          : { dependentRequired: { a: ['b'] }, dependentSchemas: { b: inner() } },
      () => (isOld ? {} : { unevaluatedProperties: false }),
      () => (dialect === 'draft2019' && this.#inside > 0 ? { $recursiveRef: '#' } : {}),
      () => ({ default: { type: 'Object' } })
    ])()
  }
}
