import { tool, ToolError } from '../../../app.js'
import type { FastifyInstance } from 'fastify'

/** Tools whose calls do not succeed, besides those of the other load programs. */
export default async function observedTools ({ mcp: { tools } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'load_fail',
      description: 'Says that it failed',
      run: () => {
        throw new ToolError('as it was told')
      }
    })
  )
  tools.add(tool({ name: 'load_break', description: 'Breaks', run: () => { throw new Error('as it was told') } }))
  tools.add(
    tool({ name: 'load_guarded', description: 'Is not for everybody', scopes: ['load:vault'], run: () => 'open' })
  )
  tools.add(tool({ name: 'load_rated', description: 'May be called some times a second', run: () => 'done' }))
}
