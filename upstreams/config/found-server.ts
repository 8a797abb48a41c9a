/** One server as a file or option names it, before anything in it was looked at. */
export interface FoundServer {
  /** The key it has there. */
  readonly name: string
  readonly values: unknown
  /** The file or option, for messages. */
  readonly source: string
  /** Where it is in the file or among the options. */
  readonly path: readonly string[]
  /**
   * Relative paths begin here, and the server runs here unless it has a `cwd`. Undefined: in the working directory of
   * the gateway.
   */
  readonly folder: string | undefined
  /** The defaults of `${input:…}`, by id. */
  readonly inputs: ReadonlyMap<string, string>
  /** The client tries HTTP+SSE where it says `http`. */
  readonly lenient: boolean
  /** The line of a part of the file, where it is known. */
  readonly lineOf: (path: readonly string[]) => number | undefined
}
