/** Text of an upstream, cut to a length, where a word ends; undefined when nothing is left. */
export function cutInstructions (text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  if (trimmed.length <= max) return trimmed
  const head = trimmed.slice(0, max)
  const end = /\s/.test(trimmed[max] ?? '') ? max : head.search(/\s\S*$/)
  return `${head.slice(0, end > max / 2 ? end : max).replace(LONE, '').trimEnd()}…`
}

/** A sentence about instructions that were cut, if they were. */
export function cutWarnings (text: string | undefined, max: number): string[] {
  const { length } = text?.trim() ?? ''
  return length > max
    ? [`its instructions have ${length} characters, of which clients get ${max} (limit maxUpstreamInstructions)`]
    : []
}

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
