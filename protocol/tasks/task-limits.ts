import type { ResultLimits } from '../byte-counts.js'

/** Bounds of tasks; times are in milliseconds. */
export interface TaskLimits extends ResultLimits {
  readonly maxTasks: number
  readonly maxTasksPerPrincipal: number
  /** For how long a task is kept after its creation, unless its client says, and at most. */
  readonly taskTtl: number
  readonly maxTaskTtl: number
  /** For how long a task is kept after its end in any case. */
  readonly taskRetention: number
  /** The longest result, in characters of JSON. */
  readonly maxTaskResult: number
}
