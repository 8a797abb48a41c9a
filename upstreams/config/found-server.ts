import type { ServerEntry } from '../server-entry.js'

/** Settings for each server whose own entry does not say otherwise. */
export interface OfAllServers {
  /** How what it offers is listed. */
  readonly schemas: ServerEntry['schemas']
  /** How it is held to what was accepted of it. */
  readonly pins?: 'off' | 'report' | 'hold' | undefined
}

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
  /** Why `${command:…}` is refused in it; undefined where it is the operator's own. */
  readonly foreign?: string | undefined
  /** The line of a part of the file, where it is known. */
  readonly lineOf: (path: readonly string[]) => number | undefined
}
