import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../wire/json.js'
import type { ArgumentChanges } from './argument-map.js'
import { definitionOf, hoistReferences, ReferenceBudget, resolvePointer, TooLong } from './references.js'
import { contradicts, isEmpty, isTrue, joinSchemas, namesIn } from './schema-parts.js'

type Members = Record<string, unknown>

/** A schema of arguments as callers see it, the names that the original has, and the values that contradict it. */
export interface ListedSchema {
  readonly schema: Members
  readonly names: ReadonlySet<string>
  /** The arguments whose fixed or default value the tool would refuse. */
  readonly misfits: ReadonlySet<string>
  /** True where callers see no cases of the schema, because these would be many times as long. */
  readonly isCut: boolean
}

/**
 * The schema of a tool's arguments as its callers see it: arguments that fit it fit the original once they were taken
 * back to the names and values of the tool. Fixed arguments are evaluated, as far as `type`, `const` and `enum` tell:
 * schemas of other servers are not compiled.
 */
export function listedSchema (original: Members, changes: ArgumentChanges): ListedSchema {
  const rewriting = new Rewriting(original, changes)
  const { names, misfits } = rewriting
  return { schema: rewriting.run(), names, misfits, isCut: rewriting.isCut }
}

/** One schema for the object of arguments while it is written anew. */
interface Place {
  readonly out: Members
  /** Schemas that hold besides. */
  readonly also: unknown[]
  readonly required: Set<string>
  /** True where the schema holds for all arguments, not in one case of several. */
  readonly isCertain: boolean
  /** The references that led here. */
  readonly within: readonly string[]
}

/** Writes one keyword; false where the fixed values can never fit. */
type Write = (value: unknown, place: Place) => boolean

class Rewriting {
  readonly names = new Set<string>()
  readonly misfits = new Set<string>()
  isCut = false
  readonly #original: Members
  readonly #changes: ArgumentChanges
  readonly #inlined = new Set<string>()
  readonly #keywords: Readonly<Record<string, Write>>
  readonly #budget: ReferenceBudget

  constructor (original: Members, changes: ArgumentChanges) {
    this.#original = original
    this.#changes = changes
    this.#budget = new ReferenceBudget(original)
    const either = (key: string): Write => (value, place) => this.#branches(key, value, place)
    const dependent = (key: string): Write => (value, place) => this.#dependencies(key, value, place)
    this.#keywords = {
      __proto__: null as never,
      properties: (value, place) => this.#properties(value, place),
      required: (value, place) => this.#required(value, place),
      dependentRequired: dependent('dependentRequired'),
      dependentSchemas: dependent('dependentSchemas'),
      dependencies: dependent('dependencies'),
      propertyNames: (value, place) => this.#propertyNames(value, place),
      minProperties: (value, { out }) => this.#count('minProperties', value, out),
      maxProperties: (value, { out }) => this.#count('maxProperties', value, out),
      allOf: (value, place) => this.#all(value, place),
      anyOf: either('anyOf'),
      oneOf: either('oneOf'),
      not: (value, place) => this.#not(value, place),
      $ref: (value, place) => this.#reference(value, place)
    }
  }

  run (): Members {
    const { required, fixed } = this.#changes
    let schema = this.#rewriteWhole()
    if (!isObject(schema)) {
      // No case allows these values, or there are too many cases: callers see what is said of all of them.
      if (!this.isCut) for (const name of fixed.keys()) this.misfits.add(name)
      const { allOf, anyOf, oneOf, not, if: condition, dependencies, dependentSchemas, $ref, ...plain } = this.#original
      schema = this.#rewrite(plain, true, [])
    }
    const listed: Members = isObject(schema) ? schema : { type: 'object' }
    const needed = [...required].filter(([name, is]) => is && !fixed.has(name)).map(([name]) => this.#nameOf(name))
    if (needed.length > 0) listed.required = [...new Set([...namesIn(listed.required), ...needed])]
    return hoistReferences(listed, this.#original, this.#changes, this.#inlined)
  }

  /** False where the fixed values can never fit, and undefined where it would become too long. */
  #rewriteWhole (): unknown {
    try {
      return this.#rewrite(this.#original, true, [])
    } catch (error) {
      if (!(error instanceof TooLong)) throw error
      this.isCut = true
    }
  }

  /** False where the fixed values can never fit. */
  #rewrite (schema: unknown, isCertain: boolean, within: readonly string[]): unknown {
    if (!isObject(schema)) return schema
    const place: Place = { out: {}, also: [], required: new Set(), isCertain, within }
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'if' || key === 'then' || key === 'else') continue
      const write = this.#keywords[key]
      if (write === undefined) place.out[key] = value
      else if (!write(value, place)) return false
    }
    if (schema.if !== undefined && !this.#condition(schema, place)) return false
    const isRoot = schema === this.#original && within.length === 0
    if (place.required.size > 0 || (isRoot && schema.required !== undefined)) place.out.required = [...place.required]
    // Inside, what says nothing any more is left out: a condition without it is always true.
    if (!isRoot && isEmpty(place.out.properties)) delete place.out.properties
    return joinSchemas(place.out, place.also)
  }

  #properties (value: unknown, { out, isCertain }: Place): boolean {
    const { fixed, defaults, descriptions } = this.#changes
    if (!isObject(value)) { out.properties = value; return true }
    const properties: Members = {}
    for (const [name, inner] of Object.entries(value)) {
      this.names.add(name)
      const sent = fixed.has(name) ? fixed : defaults
      const isWrong = sent.has(name) && contradicts(sent.get(name), inner, this.#original)
      if (isWrong && isCertain) this.misfits.add(name)
      if (fixed.has(name)) {
        if (isWrong && !isCertain) return false
        continue
      }
      const [text, preset] = [descriptions.get(name), defaults.get(name)]
      const isPatched = isCertain && inner !== false && (text !== undefined || preset !== undefined)
      properties[this.#nameOf(name)] = !isPatched
        ? inner
        : {
            ...(isObject(inner) && inner),
            ...(text !== undefined && { description: text }),
            ...(preset !== undefined && { default: preset })
          }
    }
    out.properties = properties
    return true
  }

  #required (value: unknown, { required, isCertain }: Place): boolean {
    for (const name of namesIn(value)) {
      if (this.#isPresent(name) || (isCertain && this.#changes.required.get(name) === false)) continue
      required.add(this.#nameOf(name))
    }
    return true
  }

  /** Of an argument that is always sent, its dependencies always hold. */
  #dependencies (key: string, value: unknown, { out, also, required, isCertain, within }: Place): boolean {
    const left: Members = {}
    for (const [name, needed] of Object.entries(isObject(value) ? value : {})) {
      if (Array.isArray(needed)) {
        const names = namesIn(needed).filter(each => !this.#isPresent(each)).map(each => this.#nameOf(each))
        if (!this.#isPresent(name)) left[this.#nameOf(name)] = names
        else for (const each of names) required.add(each)
      } else {
        const schema = this.#rewrite(needed, isCertain && this.#isPresent(name), within)
        if (!this.#isPresent(name)) left[this.#nameOf(name)] = schema
        else if (schema === false) return false
        else also.push(schema)
      }
    }
    if (Object.keys(left).length > 0) out[key] = left
    return true
  }

  #propertyNames (value: unknown, { out }: Place): boolean {
    const names = [...this.#changes.renamed.values()]
    out.propertyNames = names.length === 0 ? value : { anyOf: [value, { enum: names }] }
    return true
  }

  #count (key: 'minProperties' | 'maxProperties', value: unknown, out: Members): boolean {
    const { fixed, defaults } = this.#changes
    const sent = fixed.size + (key === 'minProperties' ? defaults.size : 0)
    out[key] = typeof value === 'number' ? Math.max(0, value - sent) : value
    return true
  }

  #all (value: unknown, { out, isCertain, within }: Place): boolean {
    if (!Array.isArray(value)) { out.allOf = value; return true }
    const parts = value.map(part => this.#rewrite(part, isCertain, within))
    if (parts.includes(false)) return false
    const left = parts.filter(part => !isTrue(part))
    if (left.length > 0) out.allOf = left
    return true
  }

  #branches (key: string, value: unknown, { out, within }: Place): boolean {
    if (!Array.isArray(value)) { out[key] = value; return true }
    const parts = value.map(part => this.#rewrite(part, false, within)).filter(part => part !== false)
    const isFulfilled = parts.some((part, index) => isTrue(part) && !isTrue(value[index]))
    if (key === 'oneOf' || !isFulfilled) out[key] = parts
    return parts.length > 0
  }

  #not (value: unknown, { out, within }: Place): boolean {
    const denied = this.#rewrite(value, false, within)
    if (denied !== false) out.not = denied
    return !isTrue(denied) || isTrue(value)
  }

  #condition ({ if: condition, then = true, else: otherwise = true }: Members, { out, also, within }: Place): boolean {
    const rewritten = this.#rewrite(condition, false, within)
    const decided = rewritten === false ? otherwise : isTrue(rewritten) ? then : undefined
    if (decided !== undefined) {
      const branch = this.#rewrite(decided, false, within)
      if (!isTrue(branch)) also.push(branch)
      return branch !== false
    }
    out.if = rewritten
    for (const [key, branch] of [['then', then], ['else', otherwise]] as const) {
      if (branch !== true) out[key] = this.#rewrite(branch, false, within)
    }
    return true
  }

  /** A schema that is used elsewhere, too, is written here in its new form. */
  #reference (value: unknown, { out, also, isCertain, within }: Place): boolean {
    const target = typeof value === 'string' && !within.includes(value)
      ? resolvePointer(this.#original, value)
      : undefined
    if (isObject(target)) this.#budget.spend(String(value), target, within.length)
    const rewritten = isObject(target) ? this.#rewrite(target, isCertain, [...within, String(value)]) : target
    if (rewritten === undefined || isDeepStrictEqual(rewritten, target)) out.$ref = value
    else {
      this.#inlined.add(definitionOf(String(value)) ?? '')
      also.push(rewritten)
    }
    return rewritten !== false || target === false
  }

  #nameOf (name: string): string {
    return this.#changes.renamed.get(name) ?? name
  }

  /** True for an argument that the tool always gets. */
  #isPresent (name: string): boolean {
    return this.#changes.fixed.has(name) || this.#changes.defaults.has(name)
  }
}
