import type { NodeMessage } from './message.js'

/** The processes that share a store, and the messages between them. */
export interface Nodes {
  /** This process: 12 hexadecimal digits, new at each start. Undefined where no other process can share the store. */
  readonly self: string | undefined
  /** True where what nodes tell each other can be lost without notice. */
  readonly losesMessages?: boolean
  /** Makes this process known to the others, for whom it is alive from then on. */
  join (): Promise<void>
  /**
   * Sends a message to one node; false if there is no such node. That it was delivered does not mean that it was used.
   */
  send (node: string, message: NodeMessage): Promise<boolean>
  /** Sends a message to all other nodes. */
  broadcast (message: NodeMessage): Promise<void>
  /** Adds a listener for messages of other nodes; returns a function that removes it. */
  onMessage (listener: (message: NodeMessage, from: string) => void): () => void
  /** False for a node that has ended, by itself or not. A node that cannot be asked counts as alive. */
  isAlive (node: string): Promise<boolean>
}
