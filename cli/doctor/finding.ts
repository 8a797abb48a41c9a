/** How bad a finding is, from nothing at all to a gateway that would not start. */
export type Level = 'ok' | 'note' | 'warning' | 'down' | 'broken'

/** A sentence about one part of the set-up. No text of it is a secret. */
export interface Finding {
  /** The part it is about, such as `port`; the alias of an upstream server. */
  readonly part: string
  readonly level: Level
  readonly text: string
  /** The thing to do about it. */
  readonly advice?: string | undefined
  /** More lines, such as what a server wrote last. */
  readonly details?: readonly string[]
}

/** The levels, and the exit code of a set-up whose worst finding has it. */
export const EXIT_CODES: Record<Level, number> = { ok: 0, note: 0, warning: 10, down: 11, broken: 12 }

/** The exit code for all findings together. Where no server works, it is that of a gateway that would not start. */
export const exitCodeOf = ({ findings, areAllDown }: { findings: readonly Finding[], areAllDown: boolean }): number =>
  Math.max(areAllDown ? EXIT_CODES.broken : 0, ...findings.map(({ level }) => EXIT_CODES[level]))
