export interface Repeated { readonly name: string, readonly line: number }

/** A file of a client, parsed. */
export interface Document {
  readonly value: unknown
  /** The line of a value, counted from 1, where it is known. */
  readonly lineOf: (path: readonly string[]) => number | undefined
  /**
   * The names that the object at a path has more than once, of which only the last counts. Absent where the format
   * forbids them.
   */
  readonly repeatedAt?: (path: readonly string[]) => Repeated[]
}

/** Text that cannot be parsed. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly line: number | undefined

  constructor (line: number | undefined, message: string) {
    super(message)
    this.line = line
  }
}
