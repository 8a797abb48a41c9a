import type { BatchMethod, WatchMethod } from '../../protocol/watch/batch.js'

// The only import from the gateway: types, which are gone when the page is built.
export type * from '../../protocol/watch/batch.js'

export const WATCH: WatchMethod = 'patchbay/watch'
export const WATCH_BATCH: BatchMethod = 'notifications/patchbay/watch'
