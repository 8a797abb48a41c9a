import type { Nodes } from '../nodes/nodes.js'

/** For how long a node that was alive counts as alive, for those that poll. */
const ALIVE_FOR = 1_000

/** Which nodes are alive, or were a moment ago. */
export class LiveNodes {
  readonly #self: string
  readonly #nodes: Nodes
  readonly #until = new Map<string, number>()

  constructor (self: string, nodes: Nodes) {
    this.#self = self
    this.#nodes = nodes
  }

  async has (node: string): Promise<boolean> {
    if (node === this.#self || (this.#until.get(node) ?? 0) > Date.now()) return true
    const isAlive = await this.#nodes.isAlive(node).catch(() => true)
    if (isAlive) this.#until.set(node, Date.now() + ALIVE_FOR)
    return isAlive
  }

  /** Forgets which were alive. */
  clear (): void {
    this.#until.clear()
  }
}
