import type { Options } from '../../options.js'

/** The options of one source, with everything in it that could not be read. */
export interface Source {
  options: Partial<Options>
  /** One sentence each. */
  mistakes: string[]
  /** Names the place where an option, or a part of one, was set: an argument, a variable, a line of a file. */
  originOf: (path: string) => string
}

/** Settings that cannot be used: one sentence for each mistake. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly mistakes: string[]

  constructor (mistakes: string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}
