import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../app.js'

/** Tools that do to the server what a test in the same process would do, so that a client on stdio can have it done too. */
export default async function levers (fastify: FastifyInstance): Promise<void> {
  let noteEnd: (reason: string) => void
  const lingerEnded = new Promise<string>(resolve => { noteEnd = resolve })

  fastify.mcp.tools.add(tool({
    name: 'linger',
    description: 'Says that it runs and waits until it is aborted',
    run: async (_input, call) => {
      call.progress(1)
      await once(call.signal, 'abort')
      noteEnd((call.signal.reason as Error).message)
    }
  }))

  fastify.mcp.tools.add(tool({ name: 'linger_ended', description: 'Waits until linger was aborted and tells why', run: async () => await lingerEnded }))

  fastify.mcp.tools.add(tool({
    name: 'who',
    description: 'How the server sees the client',
    run: (_input, { client, capabilities, revision }) => ({ client, capabilities: Object.keys(capabilities).sort(), revision: revision.version })
  }))

  fastify.mcp.tools.add(tool({ name: 'touch', description: 'Announces that test://text changed', run: () => fastify.mcp.resources.updated('test://text') }))

  fastify.mcp.tools.add(tool({
    name: 'grow',
    description: 'Adds a tool',
    run: () => fastify.mcp.tools.add(tool({ name: 'grown', description: 'Was added at run time', run: () => 'grown' }))
  }))

  fastify.mcp.tools.add(tool({
    name: 'start_and_break',
    description: 'Shows progress and breaks down',
    run: (_input, call) => {
      call.progress(1)
      throw new Error('secret detail')
    }
  }))
}
