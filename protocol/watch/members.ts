import type { WatchBatch } from './batch.js'

/** The members of a batch besides `requestId` and `at`; `dropped` comes with `ended`. */
export const MEMBERS = [
  'gateway',
  'ended',
  'seconds',
  'inFlight',
  'totals',
  'tools',
  'clients',
  'refusals',
  'approvals',
  'upstreams',
  'nodes',
  'health'
] as const satisfies ReadonlyArray<keyof WatchBatch>
