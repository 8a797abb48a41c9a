import type { Finding } from '../measure/goal.js'
import type { Setting } from '../measure/rounds.js'

/** Something that the benchmarks find out. */
export type Question = (setting: Setting) => Promise<Finding[]>
