import type { NodeMessage } from '../../../protocol/nodes/message.js'
import type { Nodes } from '../../../protocol/nodes/nodes.js'

type Listener = (message: NodeMessage, from: string) => void

/** A node whose messages to others are listed, and which gets those that a test makes up. */
export function fakeNodes (): { nodes: Nodes, sent: NodeMessage[], receive: Listener } {
  const [sent, listeners]: [NodeMessage[], Set<Listener>] = [[], new Set()]
  const nodes: Nodes = {
    self: 'aaaaaaaaaaaa',
    join: async () => {},
    send: async (_node, message) => { sent.push(message); return true },
    broadcast: async message => { sent.push(message) },
    onMessage: listener => { listeners.add(listener); return () => listeners.delete(listener) },
    isAlive: async () => true
  }
  return { nodes, sent, receive: (message, from) => { for (const listener of listeners) listener(message, from) } }
}
