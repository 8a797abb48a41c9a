/** A file of a client, parsed. */
export interface Document {
  readonly value: unknown
  /** The line of a value, counted from 1, where it is known. */
  readonly lineOf: (path: readonly string[]) => number | undefined
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
