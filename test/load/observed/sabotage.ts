import type { FastifyInstance } from 'fastify'
import { tool } from '../../../app.js'

/** One call in so many goes wrong. */
const EVERY = 10

/**
 * Faults that a gateway must never have, as a plugin: it counts some calls twice, and registers names that clients made
 * up. The load program has to notice.
 */
export default async function sabotage ({ mcp: { dispatcher, tools } }: FastifyInstance): Promise<void> {
  const { end } = dispatcher.observers
  const notify = end.notify.bind(end)
  let ended = 0
  end.notify = (...args) => {
    notify(...args)
    if (++ended % EVERY === 0) notify(...args)
  }
  const receive = dispatcher.receive.bind(dispatcher)
  let named = 0
  dispatcher.receive = (incoming, peer, channel) => {
    const name =
      incoming.kind === 'request' && incoming.method === 'tools/call'
        ? String((incoming.params as { name?: string }).name)
        : ''
    if (name.startsWith('invented') && ++named % EVERY === 0) {
      tools.add(tool({ name, description: 'Was made up', run: () => 'done' }))
    }
    receive(incoming, peer, channel)
  }
}
