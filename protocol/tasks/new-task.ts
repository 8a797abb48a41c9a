import { randomToken } from '../../lib/random-token.js'
import type { TaskLimits } from './task-limits.js'
import type { TaskRecord } from './task-record.js'

/** The facts of a task that is created; it is working at once. */
export type NewTask =
  & Pick<TaskRecord, 'kind' | 'owner' | 'view' | 'tool' | 'accessName' | 'scopes' | 'statusMessage'>
  & { readonly ttlMs?: number | undefined, readonly pollIntervalMs?: number, readonly id?: string }

const POLL_INTERVAL = 1_000

/** The record of a task that works at a node from now on. */
export function makeTask (
  { id = makeTaskId(), ttlMs, pollIntervalMs = POLL_INTERVAL, ...facts }: NewTask,
  { taskTtl, maxTaskTtl }: Pick<TaskLimits, 'taskTtl' | 'maxTaskTtl'>,
  node: string
): TaskRecord {
  const now = Date.now()
  return {
    ...facts,
    id,
    status: 'working',
    createdAt: now,
    updatedAt: now,
    ttlMs: Math.min(ttlMs ?? taskTtl, maxTaskTtl),
    pollIntervalMs,
    node
  }
}

/** Makes an id of 128 random bits. */
export const makeTaskId = (): string => randomToken(16, 'base64url')
