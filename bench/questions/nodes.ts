import { withCluster } from '../servers/nodes.js'
import { commandCounts } from './nodes/commands.js'
import { callCosts, sessionCosts } from './nodes/cost.js'
import { delays } from './nodes/latency.js'
import { pairOfNodes } from './nodes/pair.js'
import { weights } from './nodes/weight.js'
import type { Question } from '../measure/goal.js'

/** Measures what it costs that several nodes share their sessions and streams on Redis. */
export const nodes: Question = async setting => [
  ...await callCosts(setting),
  ...await withCluster(async cluster => [
    ...await delays(cluster, setting),
    ...await sessionCosts(cluster, setting),
    ...await commandCounts(cluster, setting),
    ...await weights(cluster, setting),
    ...await pairOfNodes(cluster, setting)
  ])
]
