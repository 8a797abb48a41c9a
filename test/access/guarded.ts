import type { FastifyInstance } from 'fastify'
import { prompt, resource, tool } from '../../app.js'

/** One of everything that an author can guard, and one of everything without a guard. */
export default async function guarded ({ mcp, mcp: { tools, resources, prompts } }: FastifyInstance): Promise<void> {
  for (const [name, scopes] of [['special', ['special']], ['both', ['special', 'extra:deep']], ['open', []]] as const) {
    tools.add(tool({ name: `${name}_tool`, description: name, scopes: [...scopes], run: () => `secret of ${name}` }))
    resources.add(
      resource({
        uri: `guard://${name}`,
        name: `${name}_resource`,
        scopes: [...scopes],
        read: () => `secret of ${name}`
      })
    )
    resources.add(resource({
      uri: `guard://${name}/{id}`,
      name: `${name}_template`,
      scopes: [...scopes],
      complete: { id: () => [`secret of ${name}`] },
      list: () => [{ uri: `guard://${name}/1`, name: `secret of ${name}` }],
      read: () => `secret of ${name}`
    }))
    prompts.add(
      prompt({
        name: `${name}_prompt`,
        scopes: [...scopes],
        arguments: { who: { complete: () => [`secret of ${name}`] } },
        get: () => `secret of ${name}`
      })
    )
  }
  mcp.method('author/plain', { type: 'object' }, () => ({ secret: 'secret of plain' }))
  mcp.method('author/special', { type: 'object' }, () => ({ secret: 'secret of special' }), { scopes: ['special'] })
  mcp.method('author/open', { type: 'object' }, () => ({ secret: 'secret of open' }), { scopes: [] })
}
