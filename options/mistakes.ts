import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import { didYouMean } from '../lib/nearest-name.js'
import { compile } from '../protocol/schema/schema.js'

export interface Mistake {
  /** The option, or the part of it, that is wrong: `port`, `apiKeys.0.hash`. */
  path: string
  /** One sentence that names the option and what was expected. */
  text: string
}

/** New names of options, by the old ones. */
export const RENAMED: Readonly<Record<string, string>> = { watch: 'reload' }

/** Options that cannot be used, with everything that is wrong with them. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly mistakes: Mistake[]

  constructor (mistakes: Mistake[]) {
    super(mistakes.map(({ text }) => text).join('; '))
    this.mistakes = mistakes
  }
}

/** Finds the mistakes in values, at most one for each of them; `noun` is what they are called. */
export function mistakesIn (schema: TObject, values: Record<string, unknown>, noun = 'option'): Mistake[] {
  const names = Object.keys(schema.properties)
  return Object.entries(values).flatMap(([name, value]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (property === undefined) {
      return [
        {
          path: name,
          text: `${noun} "${name}" ${renamedTo(name, names) ?? `does not exist${didYouMean(name, names)}`}`
        }
      ]
    }
    const wrong = compile(Type.Object({ [name]: property }))({ [name]: value })
    return wrong === undefined ? [] : [mistake(wrong, property, noun)]
  })
}

function renamedTo (name: string, names: string[]): string | undefined {
  const renamed = Object.hasOwn(RENAMED, name) ? RENAMED[name] : undefined
  return renamed === undefined || !names.includes(renamed) ? undefined : `is called ${renamed} now`
}

function mistake (wrong: string, property: TSchema, noun: string): Mistake {
  const path = wrong.split(/[ :;]/)[0] as string
  const parts = partsAt(property, path.split('.').slice(1))
  const [, unknown] = /^\S+ must NOT have additional properties: "(.*)"$/.exec(wrong) ?? []
  if (unknown !== undefined) {
    return {
      path: `${path}.${unknown}`,
      text: `${noun} ${path} has no "${unknown}"${didYouMean(unknown, Object.keys(propertiesOf(parts.at(-1))))}`
    }
  }
  const expected = parts.findLast(part => typeof part['x-expected'] === 'string')?.['x-expected'] as string | undefined
  return { path, text: `${noun} ${expected === undefined ? wrong : `${path} ${expected}`}` }
}

/** The schema and those of its parts along a path, from the outside in, as far as they are known. */
function partsAt (schema: TSchema, [key, ...rest]: string[]): TSchema[] {
  const inner =
    key === undefined
      ? undefined
      : (propertiesOf(schema)[key] ?? (schema.items as TSchema | undefined) ?? valuesOf(schema))
  return [schema, ...(inner === undefined ? [] : partsAt(inner, rest))]
}

/** The schema of the values of an object that has a name for each. */
const valuesOf = ({ patternProperties }: TSchema): TSchema | undefined =>
  Object.values(Object(patternProperties) as Record<string, TSchema>)[0]

const propertiesOf = (schema: TSchema | undefined): Record<string, TSchema> =>
  (schema?.properties as Record<string, TSchema> | undefined) ?? {}
