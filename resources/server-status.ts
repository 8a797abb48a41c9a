import type { FastifyInstance } from 'fastify'
import { resource } from '../protocol/definitions/resource.js'

const URI = 'server://status'

export default async function serverStatus ({ mcp: { resources, health } }: FastifyInstance): Promise<void> {
  resources.add(resource({
    uri: URI,
    name: 'Server Status',
    description: 'Current server status',
    mimeType: 'application/json',
    read: () => {
      const { status, uptime, reason, upstreams } = health.now()
      return { status, uptime, ...(reason === undefined ? {} : { reason }), ...(upstreams && { upstreams }) }
    }
  }))
  health.onChange(() => resources.updated(URI))
}
