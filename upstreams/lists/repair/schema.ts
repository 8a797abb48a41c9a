import { isObject } from '../../../protocol/wire/json.js'
import { TooLarge, type Budget } from './budget.js'
import { below, type Changes } from './changes.js'
import { dialectOf, type Members } from './dialects.js'
import { eachInside } from './keywords.js'
import { link, writeReferences, type Links } from './references.js'
import { Rewriting } from './rewriting.js'
import { flatten, isCompound } from './root.js'

/** How many times as long as the original a schema may become, in characters of JSON, and how many more. */
const MAX_GROWTH = 3
const ROOM = 4_096

/**
 * A schema of tool arguments in the form that every client takes: of type `object`, without unions at its root, in the
 * newest dialect, with references to itself only. What it allowed before it allows now. Throws `TooLarge`.
 */
export function repairInput (given: Members, at: string, changes: Changes, budget: Budget): Members {
  const { rewriting, links, root } = rewrite(given, at, changes, budget)
  const isRepeated = links.size > 0 || isCompound(root)
  const repaired = objectRoot(root, links, rewriting, at)
  writeReferences(repaired, links, at, changes)
  if (isRepeated) checkGrowth(repaired, given)
  return repaired
}

/** The schema of results: the same, but it need not be of objects. */
export function repairOutput (given: Members, at: string, changes: Changes, budget: Budget): Members {
  const { links, root } = rewrite(given, at, changes, budget)
  if (Array.isArray(root.type) && root.type.length === 1) {
    root.type = root.type[0]
    changes.note(below(at, 'type'), 'written without a list')
  }
  writeReferences(root, links, at, changes)
  if (links.size > 0) checkGrowth(root, given)
  return root
}

/** Throws `TooLarge` when repeated parts and references make a schema so long that many would fill the memory. */
function checkGrowth (repaired: Members, given: Members): void {
  const length = JSON.stringify(repaired).length
  if (length > ROOM && length > ROOM + MAX_GROWTH * JSON.stringify(given).length) throw new TooLarge()
}

interface Rewritten { readonly rewriting: Rewriting, readonly links: Links, readonly root: Members }

function rewrite (given: Members, at: string, changes: Changes, budget: Budget): Rewritten {
  const rewriting = new Rewriting(given, dialectOf(given), changes, budget)
  const root = rewriting.run(at)
  const links = link(rewriting)
  if (changes.loosened || isReadOtherwise(rewriting.all, links)) dropOpposites(rewriting.all, at, changes)
  return { rewriting, links, root }
}

/** Keywords that validators of older dialects do not know, so that they allow more. */
const NEWER = [
  'unevaluatedProperties', 'unevaluatedItems', 'dependentRequired', 'dependentSchemas', 'prefixItems', 'minContains',
  'maxContains'
] as const

/** True when validators of older dialects would allow more inside `not`, `if` or `oneOf`, and so less as a whole. */
function isReadOtherwise (all: readonly Members[], links: Links): boolean {
  const seen = new Set<Members>()
  const waiting: Members[] = []
  const add = (schema: unknown): void => {
    if (!isObject(schema) || seen.has(schema)) return
    seen.add(schema)
    waiting.push(schema)
  }
  for (const { not, if: condition, oneOf } of all) {
    for (const schema of [not, condition, ...(Array.isArray(oneOf) ? oneOf : [])]) add(schema)
  }
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (NEWER.some(key => schema?.[key] !== undefined)) return true
    eachInside(schema, add)
    add(links.get(schema)?.target)
  }
  return false
}

/**
 * Drops what allows less where a part of it allows more: a schema that was loosened may be a part of it, also by
 * reference. `oneOf` allows more as `anyOf`.
 */
function dropOpposites (all: readonly Members[], at: string, changes: Changes): void {
  let dropped = false
  const opposing = ['not', 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems', 'maxContains', 'oneOf']
  for (const schema of all) {
    const { oneOf, anyOf } = schema
    const opposites = opposing.filter(key => schema[key] !== undefined)
    if (opposites.length === 0) continue
    dropped = true
    for (const key of opposites) delete schema[key]
    if (oneOf !== undefined && anyOf === undefined) schema.anyOf = oneOf
  }
  if (dropped) changes.note(at, 'oneOf, not, if and the like loosened, because parts were')
}

/** Keywords that model services refuse at the root of a schema of arguments. */
const REFUSED_AT_ROOT: readonly string[] = ['not', 'enum', 'const']

/** Another object than `root` when it changes, so that references to the former one stay right. */
function objectRoot (root: Members, links: Links, rewriting: Rewriting, at: string): Members {
  const { changes } = rewriting
  const isDangling = Array.isArray(root.required) && root.required.length > 0 && root.properties === undefined
  const refused = REFUSED_AT_ROOT.filter(key => root[key] !== undefined)
  if (root.type === 'object' && !isCompound(root) && !isDangling && refused.length === 0) return root
  const flat = flatten(root, links)
  if (isCompound(root)) changes.note(at, 'references and unions at the root merged into one list of properties')
  if (root.type !== 'object') changes.note(below(at, 'type'), '"object" added')
  if (refused.length > 0) changes.note(at, `${refused.join(', ')} at the root dropped`)
  const { $schema, properties = {} } = flat
  const repaired: Members = { ...($schema === undefined ? {} : { $schema }), type: 'object', properties }
  for (const key in flat) if (!Object.hasOwn(repaired, key) && !REFUSED_AT_ROOT.includes(key)) repaired[key] = flat[key]
  // Definitions move with the root: what refers to the former root finds them there.
  for (const key of ['$defs', 'definitions']) {
    if (repaired[key] !== undefined && repaired[key] === root[key]) delete root[key]
  }
  const { required } = repaired
  if (Array.isArray(required) && isObject(properties)) rewriting.keepRequired(repaired, required, properties, at)
  return repaired
}
