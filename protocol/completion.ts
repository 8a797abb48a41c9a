/** Suggests values for one argument, given what was typed so far and the other arguments. */
export type Completer = (typed: string, others: Record<string, string>) => string[] | Promise<string[]>

export type Completers = Record<string, Completer>
