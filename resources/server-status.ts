import { resource } from '../protocol/resource.js'

const startedAt = Date.now()

export default resource({
  uri: 'server://status',
  name: 'Server Status',
  description: 'Current server status',
  mimeType: 'application/json',
  read: () => ({ status: 'healthy', uptime: Math.floor((Date.now() - startedAt) / 1000) })
})
