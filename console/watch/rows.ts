import type { ToolStats } from '../client/watch-batch.js'
import type { CallRow } from './feed.js'
import { targetOf } from './words.js'

export interface CallFilter { text: string, outcome: string, hideOwn: boolean }

/** Newest first, and how many newer ones there are than those shown. */
interface CallsShown { rows: CallRow[], newer: number }

/**
 * `read` are the calls there were when a person began to read: the list stays as it was then, also when those calls are
 * not kept any more.
 */
export function callsShown (calls: readonly CallRow[], filter: CallFilter, read = calls): CallsShown {
  const fits = matcher(filter)
  const last = read.at(-1)?.number ?? 0
  return {
    rows: read.filter(fits).reverse(),
    newer: read === calls ? 0 : calls.filter(call => call.number > last && fits(call)).length
  }
}

/** Each word of the text has to be in one of the names of the call. */
function matcher ({ text, outcome, hideOwn }: CallFilter): (call: CallRow) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(word => word !== '')
  return call => (outcome === '' || call.outcome === outcome) && !(hideOwn && call.own === true) &&
    (words.length === 0 || hasAll(namesOf(call), words))
}

const namesOf = (call: CallRow): string =>
  [
    call.method,
    targetOf(call),
    call.upstream,
    call.principal,
    call.client,
    call.transport,
    call.revision,
    call.outcome,
    call.rule,
    call.code
  ]
    .join('\n')
    .toLowerCase()

const hasAll = (names: string, words: string[]): boolean => words.every(word => names.includes(word))

export type Column = 'name' | 'calls' | 'errors' | 'p50' | 'p95' | 'p99'

export interface Order { column: Column, descending: boolean }

/**
 * The order after a press on the heading of a column: the other way round for the same one; numbers begin with the
 * greatest.
 */
export function nextOrder (order: Order, column: Column): Order {
  return { column, descending: order.column === column ? !order.descending : column !== 'name' }
}

/** Tools with the same value are in the order of their names. */
export function sortTools (tools: readonly ToolStats[], { column, descending }: Order): ToolStats[] {
  const sign = descending ? -1 : 1
  return [...tools].sort((a, b) => sign * compare(a[column], b[column]) || compare(a.name, b.name))
}

const compare = (a: string | number, b: string | number): number => a < b ? -1 : a > b ? 1 : 0
