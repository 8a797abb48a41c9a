import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../app.js'
import { boardOf } from '../support/nodes/board.js'

/**
 * Tools that do to the server what a test in the same process would do, so that a client on stdio can have it done too.
 */
export default async function levers (fastify: FastifyInstance): Promise<void> {
  const { mcp: { resources, tools } } = fastify
  const board = await boardOf(fastify)
  board.define('touch', () => resources.updated('test://text'))
  board.define('grow', () => {
    tools.remove('grown')
    tools.add(tool({ name: 'grown', description: 'Was added at run time', run: () => 'grown' }))
  })

  tools.add(tool({
    name: 'linger',
    description: 'Says that it runs and waits until it is aborted',
    run: async (_input, call) => {
      call.progress(1)
      await once(call.signal, 'abort')
      await board.mark(`end ${await board.count('ended')} of linger`, (call.signal.reason as Error).message)
    }
  }))

  tools.add(tool({
    name: 'linger_ended',
    description: 'Waits until linger was aborted once more and tells why',
    run: async (_input, call) => await board.wait(`end ${await board.count('asked')} of linger`, call.signal)
  }))

  tools.add(
    tool({
      name: 'who',
      description: 'How the server sees the client',
      run: (_input, { client, capabilities, revision }) => ({
        client,
        capabilities: Object.keys(capabilities).sort(),
        revision: revision.version
      })
    })
  )

  tools.add(
    tool({
      name: 'touch',
      description: 'Announces that test://text changed',
      run: async () => await board.everywhere('touch', {})
    })
  )

  tools.add(tool({ name: 'grow', description: 'Adds a tool', run: async () => await board.everywhere('grow', {}) }))

  tools.add(tool({
    name: 'start_and_break',
    description: 'Shows progress and breaks down',
    run: (_input, call) => {
      call.progress(1)
      throw new Error('secret detail')
    }
  }))
}
