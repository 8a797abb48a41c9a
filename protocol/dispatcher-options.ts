import type { Limits } from './limits.js'
import type { Implementation } from './revisions/revision.js'
import type { Challenge } from './stages.js'
import type { Values } from './store.js'

export interface DispatcherOptions {
  info: Implementation
  instructions?: string
  secret?: string
  store?: Values
  limits?: Partial<Limits>
  challenge?: Challenge
}
