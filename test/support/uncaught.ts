import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Test } from 'tap'

type Hooks = Pick<typeof import('node:async_hooks'), 'createHook'>

const hooks = createRequire(import.meta.url)('node:async_hooks') as Hooks
const { createHook } = hooks

let running: Test | undefined

// tap finds the test of an error that nothing catches by async hooks, which each promise pays for: a fifth of the time
// of all tests. In a part one test runs at a time, so they are not needed. tap asks for them once, when it is loaded.
hooks.createHook = () => {
  hooks.createHook = createHook
  syncBuiltinESMExports()
  const none = { enable: () => none, disable: () => none }
  return none
}
syncBuiltinESMExports()

/**
 * Fails the test that runs by errors and rejections that nothing catches, unless it listens for them itself. Import
 * this file before tap.
 */
export function failByUncaughtErrors (t: Test): void {
  running = t
  t.beforeEach(test => { running = test as Test })
  t.afterEach(test => { running = (test.parent ?? t) as Test })
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      if (process.listenerCount(event) === 1) {
        running?.threw(error instanceof Error ? error : new Error(`${event}: ${String(error)}`, { cause: error }))
      }
    })
  }
}
