import { setTimeout as sleep } from 'node:timers/promises'
import { Caller, judge } from './caller.js'
import type { Cluster, Node } from './cluster.js'
import { Tally } from './tally.js'

const AGAIN = 50
const LIMIT = 30_000
const PATIENCE = 2_000

/**
 * How long it takes until each of the nodes serves the sessions of the next one, and their streams; in milliseconds
 * since `begun`.
 */
export async function recovery (cluster: Cluster, nodes = cluster.nodes, begun = performance.now()): Promise<number> {
  for (const [index, node] of nodes.entries()) {
    const other = nodes[(index + 1) % nodes.length] as Node
    while (!await works(cluster, node, other) && performance.now() - begun < LIMIT) await sleep(AGAIN)
  }
  return performance.now() - begun
}

/** A session that is opened at one node and called at another, whose events reach the first. */
async function works (cluster: Cluster, one: Node, other: Node): Promise<boolean> {
  const [caller, reader] = [new Caller(cluster, new Tally()), new Caller(cluster, new Tally())]
  try {
    if (await caller.open(one) !== 'right') return false
    reader.session = caller.session
    const mark = caller.mark()
    const heard = reader.listen(one, undefined, { most: 1, patience: PATIENCE })
    await sleep(AGAIN)
    if (
      judge(
        await caller.callTool(other, { name: 'nodes_say', arguments: { text: mark } }, { patience: PATIENCE }),
        mark
      ) !== 'right'
    ) { return false }
    return (await heard).messages[0]?.text.includes(mark) === true
  } finally {
    caller.wire.close()
    reader.wire.close()
  }
}
