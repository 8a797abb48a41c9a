import type { Call } from '../../../protocol/dispatch/call.js'

/** How long before it would time out a call is answered, in milliseconds, and as a part of its time. */
const LEAD = 1_000
const LEAD_SHARE = 0.1

/** When a client has waited for a call for `wait` milliseconds, or a moment before the call would time out. */
export function dueOf ({ response: { startedAt, deadline } }: Call, wait: number): number {
  const { dueAt = Infinity } = deadline ?? {}
  return Math.min(startedAt + wait, dueAt - Math.min(LEAD, (dueAt - startedAt) * LEAD_SHARE))
}
