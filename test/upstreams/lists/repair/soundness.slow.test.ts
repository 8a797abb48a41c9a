import { Validator, type Schema, type SchemaDraft } from '@cfworker/json-schema'
import { Ajv, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import t from 'tap'
import { repairEntry } from '../../../../upstreams/lists/repair/entry.js'
import { RandomSchemas, type Dialect } from './random-schemas.js'

type Json = Record<string, unknown>
type Check = (value: unknown) => boolean

/**
 * Ten thousand take five minutes or more, without the limit of `npm test`: REPAIR_CASES=10000 TAP_TIMEOUT=3600 node
 * build/test/upstreams/lists/repair/soundness.slow.test.js
 */
const CASES = Number(process.env.REPAIR_CASES ?? 100)
const VALUES = 20
const DRAFTS: Record<Dialect, SchemaDraft> = {
  draft4: '4',
  draft7: '7',
  draft2019: '2019-09',
  draft2020: '2020-12',
  undeclared: '2020-12'
}
const LENIENT: Options = { strict: false, validateSchema: false, logger: false, validateFormats: false, meta: false }
/** They take turns: to compile a schema takes longer than everything else. */
const ENGINES = [['ajv2020', new Ajv2020(LENIENT)], ['ajv7', new Ajv(LENIENT)]] as const

t.test('a value that is valid under the schema of a server is valid under what is listed', async t => {
  const random = new RandomSchemas(Number(process.env.REPAIR_SEED ?? 27))
  let valid = 0
  // It keeps what it compiled.
  let official = new AjvJsonSchemaValidator()
  for (let index = 0; index < CASES; index++) {
    const dialect = random.pick(['draft4', 'draft7', 'draft2019', 'draft2020', 'undeclared'] as const)
    const schema = random.root(dialect, index % 2 === 0)
    const values = Array.from({ length: VALUES }, () => random.object())
    const others = Array.from({ length: VALUES }, () => random.value())
    const { inputSchema, outputSchema } = repaired(schema)
    const given = worker(schema, DRAFTS[dialect])
    if (index % 50 === 0) official = new AjvJsonSchemaValidator()
    t.doesNotThrow(() => official.getValidator(structuredClone(outputSchema)), `case ${index} is compiled by SDK v1`)
    for (const [kind, listed, some] of [
      ['input', inputSchema, values],
      ['output', outputSchema, [...values, ...others]]
    ] as const) {
      const engine = random.pick(ENGINES)
      const checks = checksOf(listed, engine)
      for (const value of some) {
        if (!given(value)) continue
        valid++
        const refusing = Object.keys(checks).filter(name => checks[name]?.(value) === false)
        if (refusing.join() === engine[0] && refuses(engine, schema, value)) continue
        if (refusing.length > 0) {
          t.fail(`case ${index}, ${kind}: ${refusing.join()} refuses ${JSON.stringify(value)}`, {
            schema: JSON.stringify(schema),
            listed: JSON.stringify(listed)
          })
        }
      }
    }
  }
  t.ok(valid > CASES * 5, `${valid} values were valid`)
})

function repaired (schema: Json): { inputSchema: Json, outputSchema: Json } {
  const result = repairEntry('tools', { name: 'random', inputSchema: schema, outputSchema: schema }, 'safe')
  if (typeof result === 'string') throw new Error(result)
  return result.entry as { inputSchema: Json, outputSchema: Json }
}

/** What official clients check with, and another validator. All of them have to understand what is listed. */
function checksOf (listed: Json, [name, engine]: typeof ENGINES[number]): Record<string, Check> {
  const { $schema, ...rest } = listed
  const check = engine.compile(rest)
  engine.removeSchema(rest)
  return { cfworker: worker(listed, '2020-12', true), [name]: safely(check) }
}

/**
 * Engines disagree about some schemas: one that refuses the value also under the original says nothing about the
 * repair.
 */
function refuses ([, engine]: typeof ENGINES[number], { $schema, ...schema }: Json, value: unknown): boolean {
  try {
    return !engine.compile(schema)(value)
  } catch {
    return false
  } finally {
    engine.removeSchema(schema)
  }
}

function worker (schema: Json, draft: SchemaDraft, isListed = false): Check {
  let validator: Validator | undefined
  try {
    validator = new Validator(schema as Schema, draft)
  } catch (error) {
    if (isListed) throw error
  }
  return value => {
    try {
      return validator?.validate(value).valid ?? false
    } catch (error) {
      if (isListed && !(error instanceof RangeError)) throw error
      return isListed
    }
  }
}

/**
 * Schemas that refer to themselves without end are valid for nothing, and no more so when they are listed. The code
 * that ajv writes for `patternProperties` beside `anyOf` fails with a TypeError, also for schemas of the newest dialect
 * that were not repaired.
 */
function safely (check: Check): Check {
  return value => {
    try {
      return check(value)
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return true
      throw error
    }
  }
}
