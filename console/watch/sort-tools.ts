import type { ToolStats } from '../client/watch-batch.js'

export type Column = 'name' | 'calls' | 'errors' | 'p50' | 'p95' | 'p99'

export interface Order { column: Column, descending: boolean }

/** The order after a press on the heading of a column: the other way round for the same one; numbers begin with the greatest. */
export function nextOrder (order: Order, column: Column): Order {
  return { column, descending: order.column === column ? !order.descending : column !== 'name' }
}

/** Tools with the same value are in the order of their names. */
export function sortTools (tools: readonly ToolStats[], { column, descending }: Order): ToolStats[] {
  const sign = descending ? -1 : 1
  return [...tools].sort((a, b) => sign * compare(a[column], b[column]) || compare(a.name, b.name))
}

const compare = (a: string | number, b: string | number): number => a < b ? -1 : a > b ? 1 : 0
