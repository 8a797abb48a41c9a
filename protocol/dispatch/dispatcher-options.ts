import type { Limits } from '../wire/limits.js'
import type { Implementation } from '../revisions/revision.js'
import type { ScopeChallenge } from './pipeline.js'
import type { Values } from '../store.js'

/** What a dispatcher is made of: how the server names itself, what seals its cursors and states, where handlers keep values, and its limits. */
export interface DispatcherOptions {
  info: Implementation
  instructions?: string
  secret?: string
  store?: Values
  limits?: Partial<Limits>
  challenge?: ScopeChallenge
}
