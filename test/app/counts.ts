import { createHook } from 'node:async_hooks'
import type { Test } from 'tap'
import { McpError } from '../../protocol/wire/errors.js'

/** How many of a kind were made since it was asked last. */
export type Made = (kind: 'PROMISE' | 'Timeout' | 'Immediate') => number

/** Counts what the event loop and promises are made of. */
export function counting (t: Test): Made {
  const made = new Map<string, number>()
  const hook = createHook({ init: (_id, type) => { made.set(type, (made.get(type) ?? 0) + 1) } }).enable()
  t.teardown(() => hook.disable())
  return kind => {
    const count = made.get(kind) ?? 0
    made.delete(kind)
    return count
  }
}

/**
 * Counts the errors that are made by their name, and those of ours: each takes a walk over the stack, whether or not it
 * is ever thrown.
 */
export function countErrors (t: Test): () => number {
  let count = 0
  const counted = new Proxy(Error, {
    construct: (target, args, maker) => { count++; return Reflect.construct(target, args, maker) as object },
    apply: (target, self, args) => { count++; return Reflect.apply(target, self, args) as Error }
  })
  const original = Error
  globalThis.Error = counted
  Object.setPrototypeOf(McpError, counted)
  t.teardown(() => {
    globalThis.Error = original
    Object.setPrototypeOf(McpError, original)
  })
  return () => count
}

/** How often each clock was read since. */
export function countClocks (t: Test): () => { day: number, other: number } {
  const read = { day: 0, other: 0 }
  const { now } = Date
  const other = performance.now.bind(performance)
  Date.now = () => { read.day++; return now() }
  Object.defineProperty(performance, 'now', { value: () => { read.other++; return other() }, configurable: true })
  t.teardown(() => {
    Date.now = now
    delete (performance as { now?: unknown }).now
  })
  return () => ({ ...read })
}
