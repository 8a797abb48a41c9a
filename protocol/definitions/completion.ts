import type { Call } from '../dispatch/call.js'

/** Suggests values for one argument, given what was typed so far and the other arguments. */
export type Completer = (typed: string, others: Record<string, string>, call: Call) => string[] | Promise<string[]>

export type Completers = Record<string, Completer>
