import { readPattern, type Part, type Sequence } from './pattern-parts.js'

/** From how many repetitions on a quantifier counts as one without bound. */
const MANY = 10

/**
 * True for a regular expression that can take time exponential in the length of a text that does not match: a repeated
 * group that can match the same characters in several ways, such as `(a+)+`, `(\w+\s?)*` or `(.|\s)*`. A rule of thumb:
 * it knows characters and groups, and takes what it cannot read for harmless. It says nothing of patterns that are only
 * slow, such as `.*.*`.
 */
export function canExplode (source: string): boolean {
  const alternatives = readPattern(source)
  return alternatives !== undefined && hasExplosive(alternatives)
}

/** The patterns of a schema that can explode, wherever they stand in it. */
export function explosivePatterns (schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(explosivePatterns)
  if (typeof schema !== 'object' || schema === null) return []
  const inner = Object.values(schema).flatMap(explosivePatterns)
  const { pattern, patternProperties } = schema as { pattern?: unknown, patternProperties?: unknown }
  const own = [pattern, ...Object.keys(Object(patternProperties))].filter(source => typeof source === 'string')
  return [...new Set([...own.filter(canExplode), ...inner])]
}

function hasExplosive (alternatives: Sequence[]): boolean {
  return alternatives.flat().some(part => part.inner !== undefined && (isExplosive(part) || hasExplosive(part.inner)))
}

function isExplosive ({ max, inner = [] }: Part): boolean {
  return max >= MANY && (inner.some(sequence => isAmbiguous(sequence, [])) || overlap(inner))
}

/**
 * True when a repeated part of the sequence and the next repetition of the sequence can share the same characters in
 * several ways: nothing else has to come between them that it cannot match itself.
 */
function isAmbiguous (sequence: Sequence, around: Sequence): boolean {
  const parts = sequence.flatMap(part =>
    part.inner?.length === 1 && part.min === 1 && part.max === 1 ? (part.inner[0] as Sequence) : [part]
  )
  if (parts.length > sequence.length || parts.some((part, index) => part !== sequence[index])) {
    return isAmbiguous(parts, around)
  }
  return parts.some(part => {
    const others = [...around, ...parts.filter(other => other !== part)]
    if (part.max >= MANY) return others.every(other => isOptional(other) || meets(other, part))
    return (part.inner ?? []).some(alternative => isAmbiguous(alternative, others))
  })
}

/** True when one alternative is a single part that can also match, piece by piece, what another one does. */
function overlap (alternatives: Sequence[]): boolean {
  return alternatives.some((one, index) => alternatives.some((other, at) => {
    const [single] = one
    return (
      at !== index &&
      one.length === 1 &&
      single !== undefined &&
      other.length > 0 &&
      other.every(part => part.min > 0 && meets(part, single))
    )
  }))
}

const isOptional = ({ min, inner }: Part): boolean =>
  min === 0 || (inner !== undefined && inner.some(sequence => sequence.every(isOptional)))

const meets = (one: Part, other: Part): boolean =>
  one.characters.some((has, code) => has && other.characters[code] === true)
