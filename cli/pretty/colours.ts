import type { Environment } from '../../system/environment.js'

export type Colour = 'dim' | 'red' | 'green' | 'yellow'
/** Puts a text into a colour, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string

const CODES: Record<Colour, number> = { dim: 2, red: 31, green: 32, yellow: 33 }

/** A function that colours text where that is wanted: on a terminal that is not `dumb`, unless NO_COLOR is set. FORCE_COLOR overrides all of that. */
export function painter ({ FORCE_COLOR: forced, NO_COLOR: no = '', TERM: term }: Environment, terminal: boolean): Paint {
  const wanted = forced === undefined ? terminal && no === '' && term !== 'dumb' : !['0', 'false'].includes(forced)
  return wanted ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text
}
