/** Instructions, and what a caller must have been granted to see them. */
export interface Section { readonly text: string, readonly scopes: readonly string[] | undefined }

/** The instructions of upstreams, each under its alias. Their own headings are put lower, so that none looks like that of another upstream. */
export function sectionsOf (all: ReadonlyArray<{ readonly alias: string, readonly instructions: string | undefined, readonly scopes: readonly string[] | undefined }>): Section[] {
  return all.flatMap(({ alias, instructions, scopes }) => instructions === undefined ? [] : [{ text: `## ${alias}\n\n${instructions.replace(HEADING, '##$&')}`, scopes }])
}

/** Text of an upstream, cut to a length; undefined when nothing is left. */
export function cutInstructions (text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  return trimmed.length > max ? `${trimmed.slice(0, max).replace(LONE, '')}…` : trimmed
}

/** A heading of Markdown as high as those of upstreams, or higher. */
const HEADING = /(?<=^ {0,3})#{1,2}(?=\s|$)/gm

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
