import { createHash } from 'node:crypto'
import type { TaskRecord } from './task-record.js'

/** The spaces of the store that tasks are in. */
export const SPACES = {
  tasks: 'tasks',
  requests: 'tasks/requests',
  results: 'tasks/results',
  /** Keys are a time and an id, in order: when a task fails, or is removed. */
  due: 'tasks/due',
  /** Keys are a node and an id: the tasks that a node runs. */
  running: 'tasks/running'
} as const

/** The space with the tasks of an owner, in the order of their creation. */
export const ownerSpace = (owner: string | null): string =>
  `tasks/of/${owner === null ? '' : createHash('sha256').update(owner).digest('base64url')}`

export const ownerKey = ({ createdAt, id }: TaskRecord): string => dueKey(createdAt, id)
export const dueKey = (time: number, id: string): string => `${Math.ceil(time).toString(36).padStart(10, '0')}.${id}`
export const runningKey = (node: string, id: string): string => `${node}.${id}`

/** The part before the id of a key: a time or a node. */
export const headOf = (key: string): string => key.slice(0, key.indexOf('.'))
export const idOf = (key: string): string => key.slice(key.indexOf('.') + 1)
export const timeOf = (key: string): number => Number.parseInt(headOf(key), 36)
