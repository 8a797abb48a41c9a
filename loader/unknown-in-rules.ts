import { matcherOf, mayFitFrom } from '../lib/glob.js'
import { didYouMean } from '../lib/nearest-name.js'
import { effectOf, type Condition, type Rule } from '../protocol/rules/rule.js'
import { isObject } from '../protocol/wire/json.js'

/** The names that rules can be about, and what callers can be. */
export interface KnownToRules {
  /** The canonical names of all that is served now. */
  readonly names: readonly string[]
  /** The beginnings of names of upstream servers; `isListed` where the lists of the server are known. */
  readonly starts: ReadonlyArray<{ readonly start: string, readonly alias: string, readonly isListed: boolean }>
  readonly views: readonly string[]
  /** The names of the keys; undefined where callers may have other names. */
  readonly keys: readonly string[] | undefined
  readonly hasKeys: boolean
  readonly hasTokens: boolean
  /** The scopes that callers can have; undefined where these are not known. */
  readonly scopes: Iterable<string> | undefined
  /** The input schema of a tool of that name; undefined for what is no tool, or whose arguments are not known. */
  readonly schemaOf: (name: string) => unknown
}

/** A sentence for each name in rules that matches nothing, and for claims of callers that have none. */
export function unknownInRules (rules: readonly Rule[], known: KnownToRules): string[] {
  return rules.flatMap((rule, index) => {
    const { effect, globs } = effectOf(rule)
    return [
      ...globs.flatMap(glob => inGlob(glob, `rules.${index}.${effect}`, known)),
      ...inCondition(rule.for ?? {}, `rules.${index}.for`, known),
      ...inWhere(rule.where ?? {}, globs, `rules.${index}.where`, known)
    ]
  })
}

function inGlob (glob: string, path: string, { names, starts }: KnownToRules): string[] {
  if (names.some(matcherOf(glob))) return []
  const owners = starts.filter(({ start }) => mayFitFrom(glob, start))
  // A rule such as `*__delete_*` may be about what a server has later.
  if (owners.some(({ start, isListed }) => !isListed || !glob.startsWith(start))) return []
  const servers = [...new Set(owners.map(({ alias }) => alias))]
  const why = servers.length === 0 ? 'which fits nothing here' : `which fits nothing that ${servers.join(' or ')} listed last`
  return [`option ${path} has "${glob}", ${why}${didYouMean(glob, names)}`]
}

function inCondition (
  { principal, view, scope, claim, not: other }: Condition,
  path: string,
  known: KnownToRules
): string[] {
  const { keys, views, hasKeys, hasTokens, scopes } = known
  const fitsNo = (names: readonly string[]) => (glob: string): boolean => !names.some(matcherOf(glob))
  const granted = scopes === undefined ? undefined : [...scopes]
  return [
    ...(principal === undefined || keys === undefined ? [] : [principal].flat())
      .filter(fitsNo((keys ?? []).flatMap(name => [name, `key:${name}`])))
      .map(glob => `option ${path}.principal has "${glob}", and there is no such key${didYouMean(glob, keys ?? [])}`),
    ...(scope === undefined || granted === undefined ? [] : [scope].flat().filter(name => !granted.includes(name)))
      .map(name => `option ${path}.scope has "${name}", and no key has that scope${didYouMean(name, granted ?? [])}`),
    ...(view === undefined ? [] : [view].flat())
      .filter(fitsNo(views))
      .map(glob => `option ${path}.view has "${glob}", and there is no such view${didYouMean(glob, views)}`),
    ...(claim !== undefined && (hasKeys || !hasTokens)
      ? [`option ${path}.claim is about claims of tokens: ${hasTokens ? 'API keys have none, and never match' : 'there are no tokens without option oauth'}`]
      : []),
    ...(other === undefined ? [] : inCondition(other, `${path}.not`, known))
  ]
}

/** Arguments that nothing has which the rule is about, where the arguments of all of that are known. */
function inWhere (
  where: NonNullable<Rule['where']>,
  globs: readonly string[],
  path: string,
  { names, starts, schemaOf }: KnownToRules
): string[] {
  if (starts.some(({ start, isListed }) => !isListed && globs.some(glob => mayFitFrom(glob, start)))) return []
  const fits = globs.map(matcherOf)
  const schemas = names.filter(name => fits.some(fit => fit(name))).map(schemaOf)
  const properties = schemas.map(propertiesOf)
  if (properties.length === 0 || properties.includes(undefined)) return []
  const all = [...new Set(properties.flatMap(each => each ?? []))]
  return Object.keys(where)
    .filter(argument => !all.includes(argument.split('.')[0] ?? ''))
    .map(argument => `option ${path} has "${argument}", which is no argument of what the rule is about${didYouMean(argument, all)}`)
}

/** The names of the arguments of a schema that says all of them in the plainest way. */
function propertiesOf (schema: unknown): string[] | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined
  const isPlain = ['allOf', 'anyOf', 'oneOf', '$ref', 'if', 'patternProperties', 'dependentSchemas']
    .every(member => schema[member] === undefined)
  return isPlain && !isObject(schema.additionalProperties) ? Object.keys(schema.properties) : undefined
}

/** The scopes that rules tell callers apart by. */
export const scopesInRules = (rules: readonly Rule[]): string[] =>
  rules.flatMap(({ for: condition }) => condition === undefined ? [] : scopesIn(condition))

const scopesIn = ({ scope, not: other }: Condition): string[] =>
  [...(scope === undefined ? [] : [scope].flat()), ...(other === undefined ? [] : scopesIn(other))]
