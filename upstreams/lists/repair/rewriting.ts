import { isObject } from '../../../protocol/wire/json.js'
import { isWellFormed, type Budget } from './budget.js'
import { below, type Changes } from './changes.js'
import { identifierOf, modernize, resolve, type Dialect, type Members } from './dialects.js'
import { ANNOTATIONS, COMPOUND, KEYWORDS, REFUSED, TYPES, VALUES, type Reading } from './keywords.js'

/** How many others a reference or a name of a schema counts for: it takes longer. */
const SLOW = 4
const SLOW_KEYS: ReadonlySet<string> =
  new Set(['$ref', '$dynamicRef', '$recursiveRef', '$id', 'id', '$anchor', '$dynamicAnchor'])

/** The base of references in a schema without a name. */
const NAMELESS = 'schema:///'

const UNREADABLE = 'dropped, because it cannot be read'

/** A reference of a schema that was rewritten, as its author wrote it. */
export interface Reference {
  readonly schema: Members
  readonly base: string
  readonly at: string
  /** True when what it refers to may depend on what referred to it. */
  readonly isDynamic: boolean
}

/** Rewrites schemas of one dialect into the newest. Finds schemas by their names, for references. */
export class Rewriting {
  readonly changes: Changes
  readonly references: Reference[] = []
  readonly all: Members[] = []
  readonly #dialect: Dialect
  readonly #root: Members
  readonly #rewritten = new Map<unknown, Members>()
  /** Schemas by name, and by name and anchor; undefined where two have the same. */
  readonly #named = new Map<string, Members | undefined>()
  readonly #resources = new Set<Members>()
  /** Schemas by name, where some have names that are not well-formed. */
  readonly #misnamed = new Set<unknown>()
  /** Why the next value cannot be read. */
  #why = UNREADABLE
  readonly #budget: Budget

  constructor (root: Members, dialect: Dialect, changes: Changes, budget: Budget) {
    this.#budget = budget
    this.#root = root
    this.#dialect = dialect
    this.changes = changes
    this.#named.set(NAMELESS, root)
    this.#resources.add(root)
  }

  /** The root, rewritten. */
  run (at: string): Members {
    return this.#object(this.#root, at, NAMELESS)
  }

  /** The schema that a reference refers to, rewritten; a boolean is one, too. Undefined when it is not in this one. */
  find ({ schema, base, isDynamic }: Reference): Members | boolean | undefined {
    if (isDynamic && this.#resources.size > 1) return undefined
    const [uri = '', fragment = ''] = String(schema.$ref).split('#')
    const name = uri === '' ? base : resolve(base, uri)
    const resource = name === undefined ? undefined : this.#named.get(name)
    if (name === undefined || resource === undefined) return undefined
    const isPointer = fragment === '' || fragment.startsWith('/')
    const target = isPointer ? valueAt(resource, fragment) : this.#named.get(`${name}#${fragment}`)
    if (typeof target === 'boolean') return target
    if (!isObject(target)) return undefined
    return this.#rewritten.get(target) ?? this.#object(target, fragment, name)
  }

  #object (given: Members, at: string, base: string): Members {
    const schema: Members = {}
    this.#rewritten.set(given, schema)
    this.all.push(schema)
    for (const key in given) this.#budget.spend(SLOW_KEYS.has(key) ? SLOW : 1)
    const inner = this.#name(given, base)
    const source = modernize(given, this.#dialect, at, given === this.#root, this.changes)
    for (const key in source) {
      const reading = KEYWORDS.get(key)
      const value = reading === undefined
        ? this.#unknown(key, source[key], at)
        : this.#value(reading, source[key], below(at, key), inner)
      if (value !== undefined) schema[key] = value
      else if (reading !== undefined) this.#unread(key, at)
    }
    this.#drop(schema, source, at)
    if (typeof schema.$ref !== 'string') return schema
    this.references.push({ schema, base: inner, at: below(at, '$ref'), isDynamic: given.$ref === undefined })
    return schema
  }

  /** Remembers the names of a schema; returns the base of references in it. */
  #name (given: Members, base: string): string {
    const id = identifierOf(given, this.#dialect)
    const isAnchor = id?.startsWith('#') === true
    const other = `${NAMELESS}${this.#resources.size}/`
    const inner = id === undefined || isAnchor ? base : resolve(base, id.replace(/#.*/s, '')) ?? other
    if (inner !== base) {
      this.#remember(inner, given)
      this.#resources.add(given)
    }
    const { $anchor = isAnchor ? id.slice(1) : undefined, $dynamicAnchor } = given
    if (typeof $anchor === 'string') this.#remember(`${inner}#${$anchor}`, given)
    if (typeof $dynamicAnchor === 'string') this.#remember(`${inner}#${$dynamicAnchor}`, given)
    return inner
  }

  #remember (name: string, schema: Members): void {
    const known = this.#named.get(name)
    this.#named.set(name, this.#named.has(name) && known !== schema ? undefined : schema)
  }

  /** The value of a keyword that no dialect has; undefined when some client would refuse the schema with it. */
  #unknown (key: string, value: unknown, at: string): unknown {
    if (REFUSED.has(key)) this.changes.loosen(below(at, key), 'dropped, because clients read it in different ways')
    else if (VALUES.has(key) || (isWellFormed(key) && this.#budget.isPlain(value))) return value
    else this.changes.note(below(at, key), 'dropped, because clients look for schemas in it')
    return undefined
  }

  /** Undefined when the value cannot be read. */
  #value (reading: Reading, value: unknown, at: string, base: string): unknown {
    if (typeof reading === 'function') return reading(value) ? value : undefined
    switch (reading) {
      case 'schema': return this.#schema(value, at, base)
      case 'schemas': return this.#list(value, at, base)
      case 'type': return this.#type(value, at)
      case 'pattern': return typeof value === 'string' && this.#isPattern(value) ? value : undefined
      case 'required': return this.#names(value, at)
      default: return isObject(value) ? this.#byName(reading, value, at, base) : undefined
    }
  }

  #schema (value: unknown, at: string, base: string): Members | boolean | undefined {
    return typeof value === 'boolean' ? value : isObject(value) ? this.#object(value, at, base) : undefined
  }

  #list (value: unknown, at: string, base: string): unknown {
    if (!Array.isArray(value) || value.length === 0) return undefined
    this.#budget.spend(value.length)
    return value.map((item, index) => this.#schema(item, below(at, index), base) ?? this.#anything(below(at, index)))
  }

  #byName (reading: Reading, value: Members, at: string, base: string): Members | undefined {
    const byName: Members = {}
    for (const name in value) {
      this.#budget.spend(1)
      const pointer = below(at, name)
      if (reading === 'patterns' && !(isWellFormed(name) && this.#isPattern(name))) return undefined
      if (!isWellFormed(name)) {
        this.#misnamed.add(value)
        this.changes.loosen(pointer, 'dropped, because its name is no text')
      } else if (reading === 'dependencies' && Array.isArray(value[name])) {
        byName[name] = this.#names(value[name], pointer)
      } else {
        const schema = this.#schema(value[name], pointer, base) ?? this.#anything(pointer)
        byName[name] = this.#asObject(schema, pointer, reading)
      }
    }
    return byName
  }

  #isPattern (text: string): boolean {
    const reading = this.#budget.readPattern(text)
    if (reading === 'too long') this.#why = 'dropped, because its patterns are too long to look into'
    return reading === 'right'
  }

  /** Clients want an object for each property. */
  #asObject (schema: Members | boolean, pointer: string, reading: Reading): Members | boolean {
    if (typeof schema !== 'boolean' || reading !== 'properties') return schema
    this.changes.note(pointer, `${schema} written as an object`)
    return schema ? {} : { not: {} }
  }

  #anything (pointer: string): Members {
    this.changes.loosen(pointer, 'no schema, so that anything is allowed')
    return {}
  }

  #type (value: unknown, at: string): unknown {
    if (typeof value === 'string' && TYPES.has(value)) return value
    const given: unknown[] = Array.isArray(value) ? value : [value]
    const names = given.map(name => typeof name === 'string' ? name.toLowerCase() : '')
    if (names.length === 0 || !names.every(name => TYPES.has(name))) return undefined
    const unique = [...new Set(names)]
    // A validator may take a word that it does not know for one that no value fits.
    const isKnown = given.every((name, index) => name === names[index])
    if (isKnown && unique.length === given.length) return value
    if (isKnown) this.changes.note(at, 'repeated names dropped')
    else this.changes.loosen(at, 'spelt as JSON Schema does')
    return Array.isArray(value) ? unique : unique[0]
  }

  #names (value: unknown, at: string): unknown {
    if (!Array.isArray(value)) return undefined
    const names = [...new Set(value.filter(name => typeof name === 'string'))]
    if (names.length === value.length) return value
    if (value.every(name => typeof name === 'string')) this.changes.note(at, 'repeated names dropped')
    else this.changes.loosen(at, 'what is no name dropped')
    return names
  }

  #unread (key: string, at: string): void {
    if (ANNOTATIONS.has(key)) this.changes.note(below(at, key), this.#why)
    else this.changes.loosen(below(at, key), this.#why)
    this.#why = UNREADABLE
  }

  /** Drops what has no meaning without what was dropped before. */
  #drop (schema: Members, source: Members, at: string): void {
    const { required, properties, patternProperties } = schema
    // It would now be about more properties.
    const isFewer = properties === undefined ? source.properties !== undefined : this.#misnamed.has(source.properties)
    const isUnread = patternProperties === undefined && source.patternProperties !== undefined
    if (isFewer || isUnread) delete schema.additionalProperties
    if (!Array.isArray(required) || !isObject(properties) || COMPOUND.some(key => schema[key] !== undefined)) return
    this.keepRequired(schema, required, properties, at)
  }

  /** Names that are required, but no property, are removed. */
  keepRequired (schema: Members, required: readonly unknown[], properties: Members, at: string): void {
    const kept = required.filter(name => Object.hasOwn(properties, String(name)))
    if (kept.length === required.length) return
    this.changes.loosen(below(at, 'required'), 'names dropped that are no properties')
    if (kept.length > 0) schema.required = kept
    else delete schema.required
  }
}

const ESCAPED = /[%~]/

/** The value that a JSON pointer leads to. */
function valueAt (root: unknown, pointer: string): unknown {
  let at = root
  for (const part of pointer.split('/').slice(1)) {
    const key = ESCAPED.test(part) ? decode(part).replaceAll('~1', '/').replaceAll('~0', '~') : part
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Members)[key] : undefined
  }
  return at
}

function decode (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
