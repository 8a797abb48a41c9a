/** Instructions, and what a caller must have been granted to see them. */
export interface Section { readonly text: string, readonly scopes: readonly string[] | undefined }

/** The instructions of upstreams, each under its alias. */
export function sectionsOf (all: ReadonlyArray<{ readonly alias: string, readonly instructions: string | undefined, readonly scopes: readonly string[] | undefined }>): Section[] {
  return all.flatMap(({ alias, instructions, scopes }) => instructions === undefined ? [] : [{ text: `## ${alias}\n\n${instructions}`, scopes }])
}

/** Text of an upstream, cut to a length; undefined when nothing is left. */
export function cutInstructions (text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  return trimmed.length > max ? `${trimmed.slice(0, max).replace(LONE, '')}…` : trimmed
}

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
