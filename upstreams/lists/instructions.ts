import type { UpstreamServer } from '../ports.js'

/** Text of an upstream, cut to a length, where a word ends; undefined when nothing is left. */
export function cutInstructions (text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  if (trimmed.length <= max) return trimmed
  const head = trimmed.slice(0, max)
  const end = /\s/.test(trimmed[max] ?? '') ? max : head.search(/\s\S*$/)
  return `${head.slice(0, end > max / 2 ? end : max).replace(LONE, '').trimEnd()}…`
}

/** Sentences about what a server has and does not list, and about instructions that were cut. */
export function serverWarnings (
  { instructions, warnings = [] }: Pick<UpstreamServer, 'instructions' | 'warnings'>,
  max: number
): string[] {
  const { length } = instructions?.trim() ?? ''
  return length > max
    ? [...warnings, `its instructions have ${length} characters, of which clients get ${max} (limit maxUpstreamInstructions)`]
    : [...warnings]
}

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
