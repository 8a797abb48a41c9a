import type { Test } from 'tap'
import type { Store } from '../../protocol/store.js'
import { changes } from './contract/changes.js'
import { numbers } from './contract/numbers.js'
import { sessions } from './contract/sessions.js'
import { streams } from './contract/streams.js'
import { surplusOfStreams } from './contract/surplus.js'
import { order } from './contract/order.js'
import { terms } from './contract/terms.js'
import { values } from './contract/values.js'

/** A store under test. `pause` is where everything that was acknowledged may have to outlive a process. */
export interface Subject {
  readonly store: Store
  pause: () => Promise<void>
}

export type Open = (t: Test) => Promise<Subject>

/** What every adapter of the storage port does, whatever it keeps things in. */
export function contract (t: Test, name: string, open: Open): void {
  const parts = { values, order, terms, numbers, changes, sessions, streams, 'given up': surplusOfStreams }
  for (const [part, tests] of Object.entries(parts)) {
    t.test(`${name}: ${part}`, async t => {
      t.jobs = 1
      tests(t, open)
    })
  }
}
