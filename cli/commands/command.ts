import type { LogLines } from '../../system/process/log-lines.js'

/** A word of the command line, such as `key` in `patchbay key NAME`. */
export interface Command {
  /** The text of its `--help`: how it is called, then what it does, then an example. Lines of up to 80 columns. */
  readonly help: string
  /** True for arguments with `--help` that the command answers itself: about a tool, and not about the command. */
  readonly answersHelp?: (argv: string[]) => boolean
  /** Runs it with the arguments after the word. Throws a sentence if they are wrong. */
  readonly run: (argv: string[], logs: LogLines) => void | Promise<void>
}
