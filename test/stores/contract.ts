import type { Test } from 'tap'
import type { Store } from '../../protocol/store.js'
import { changes } from './contract/changes.js'
import { nodes } from './contract/nodes.js'
import { numbers } from './contract/numbers.js'
import { sessions } from './contract/sessions.js'
import { swaps } from './contract/swaps.js'
import { streams } from './contract/streams.js'
import { surplusOfStreams } from './contract/surplus.js'
import { order } from './contract/order.js'
import { racingTasks, tasks } from './contract/tasks.js'
import { terms } from './contract/terms.js'
import { values } from './contract/values.js'

/** A store under test. `pause` is where everything that was acknowledged may have to outlive a process. */
export interface Subject {
  readonly store: Store
  /** True where a pause ends the process and starts another. */
  readonly restarts?: boolean
  pause: () => Promise<void>
  /** Another node that shares the store, where there can be one. */
  another?: () => Promise<Store>
}

export type Open = (t: Test) => Promise<Subject>

/** What every adapter of the storage port does, whatever it keeps things in. */
export function contract (t: Test, name: string, open: Open): void {
  const parts = { values, order, terms, numbers, swaps, changes, sessions, streams, 'given up': surplusOfStreams, tasks }
  for (const [part, tests] of Object.entries(parts)) {
    t.test(`${name}: ${part}`, async t => {
      t.jobs = 1
      tests(t, open)
    })
  }
}

/** What every adapter does that several nodes can share. */
export function sharedContract (t: Test, name: string, open: Open): void {
  t.test(`${name}: nodes`, async t => {
    t.jobs = 1
    nodes(t, open)
  })
  t.test(`${name}: tasks of several nodes`, async t => {
    t.jobs = 1
    racingTasks(t, open)
  })
}
