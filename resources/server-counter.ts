import type { FastifyInstance } from 'fastify'
import { resource } from '../protocol/definitions/resource.js'

const URI = 'server://counter'

export default async function serverCounter (fastify: FastifyInstance): Promise<void> {
  const { mcp: { resources, store: { values } } } = fastify
  resources.add(resource({
    uri: URI,
    name: 'Counter',
    description: 'Current counter value',
    mimeType: 'text/plain',
    read: async () => String(await values.get('counter', 'value') ?? 0)
  }))
  const offs = [
    values.onChange(space => { if (space === 'counter') resources.updated(URI) }),
    values.onMissedChanges(() => resources.updated(URI))
  ]
  fastify.addHook('onClose', async () => { for (const off of offs) off() })
}
