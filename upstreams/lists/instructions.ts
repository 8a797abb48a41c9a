/** Instructions, and what a caller must have been granted to see them. */
export interface Section { readonly text: string, readonly scopes: readonly string[] | undefined }

/**
 * The instructions of upstreams, each under its alias. Their own headings are put lower, so that none looks like that
 * of another upstream.
 */
export function sectionsOf (
  all: ReadonlyArray<{
    readonly alias: string
    readonly instructions: string | undefined
    readonly scopes: readonly string[] | undefined
  }>
): Section[] {
  return all.flatMap(({ alias, instructions, scopes }) =>
    instructions === undefined ? [] : [{ text: `## ${alias}\n\n${instructions.replace(HEADING, '##$&')}`, scopes }]
  )
}

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

/** A heading of Markdown as high as those of upstreams, or higher. */
const HEADING = /(?<=^ {0,3})#{1,2}(?=\s|$)/gm

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
