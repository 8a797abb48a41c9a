import { isObject } from '../../protocol/wire/json.js'

const TO_SHARED = /^#\/((?:\$defs|definitions)\/[^/%]+)(?=\/|$)/
const TO_OTHERS = /^#(?:\/(?!\$defs|definitions)[^%]*)?$/
/** Keywords that make references lead to other places than those that they name. */
const MOVES_REFERENCES = ['$id', 'id', '$dynamicRef', '$recursiveRef']

/**
 * The shared schemas of a whole one that its references lead to, such as `$defs/x`; undefined where that is not sure.
 */
export function referencedIn (schema: unknown): ReadonlySet<string> | undefined {
  if (!isObject(schema)) return new Set()
  const { $defs: _, definitions: __, ...rest } = schema
  const names = new Set<string>()
  const waiting: unknown[] = [rest]
  for (const value of waiting) {
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'string') waiting.push(member)
      else if (MOVES_REFERENCES.includes(key)) return undefined
      else if (key === '$ref') {
        const name = TO_SHARED.exec(member)?.[1]
        if (name === undefined && !TO_OTHERS.test(member)) return undefined
        if (name === undefined || names.has(name)) continue
        names.add(name)
        waiting.push(sharedSchema(schema, name))
      }
    }
  }
  return names
}

function sharedSchema (schema: Record<string, unknown>, pointer: string): unknown {
  const [keyword = '', name = ''] = pointer.split('/')
  const shared = schema[keyword]
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
  return isObject(shared) && Object.hasOwn(shared, key) ? shared[key] : undefined
}
