/** The instructions of all upstreams, each under its alias; undefined when there are none. */
export function joinInstructions (all: ReadonlyArray<{ readonly alias: string, readonly instructions: string | undefined }>): string | undefined {
  const parts = all.flatMap(({ alias, instructions }) => instructions === undefined ? [] : [`## ${alias}\n\n${instructions}`])
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

/** Text of an upstream, cut to a length; undefined when nothing is left. */
export function cutInstructions (text: string | undefined, max: number): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed === '') return undefined
  return trimmed.length > max ? `${trimmed.slice(0, max).replace(LONE, '')}…` : trimmed
}

/** The first half of a character that was cut in two. */
const LONE = /[\ud800-\udbff]$/
