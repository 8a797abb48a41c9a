import type { OutputUnit } from '@cfworker/json-schema'

/** Below these a schema that asks for less can make a value wrong that is right. */
const TURNING = new Set(['oneOf', 'not', 'if', 'then', 'else', 'contains', 'minContains', 'maxContains', 'unevaluatedProperties', 'unevaluatedItems'])
/** Keywords after which a location has a name. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** The errors that are also errors by the whole schema, if the validator had one that asks for less. */
export function certainErrors (units: OutputUnit[]): OutputUnit[] {
  const uncertain = [...new Set(units.flatMap(({ keywordLocation }) => uncertainPart(keywordLocation) ?? []))]
  // Where the validator meets the schema `false`, it tells the location in the value instead.
  return units.filter(({ keyword, keywordLocation: location }) => !(keyword === 'false' && uncertain.length > 0) && !uncertain.some(part => part === location || location.startsWith(`${part}/`) || part.startsWith(`${location}/`)))
}

/** The location up to the outermost keyword that may be right after all; undefined where none is. */
function uncertainPart (location: string): string | undefined {
  const names = location.split('/')
  const keywords = names.map((name, index) => isName(names, index) ? '' : name)
  if (!keywords.some(keyword => TURNING.has(keyword))) return undefined
  // One variant of `anyOf` is enough, so with one of them all are uncertain.
  return names.slice(0, keywords.findIndex(keyword => TURNING.has(keyword) || keyword === 'anyOf') + 1).join('/')
}

/** True for the name of a field. A map that is itself such a name is followed by a keyword. */
function isName (names: string[], index: number): boolean {
  let maps = 0
  while (MAPS.has(names[index - 1 - maps] ?? '')) maps++
  return maps % 2 === 1
}
