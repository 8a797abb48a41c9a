import { createClient } from '@redis/client'
import { patchbay } from './catalogue.js'
import { ServerProcess, type Server } from './process.js'

/** A Redis that stores nothing on the disk. */
const redis: Server = {
  name: 'Redis',
  program: 'redis-server',
  args: ({ port, data }) => [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    data,
    '--save',
    '',
    '--appendonly',
    'no'
  ]
}

/** Patchbay as a node on a Redis, and as it is without other nodes. */
export const onRedis = (port: number): Server => ({
  name: 'on Redis',
  args: place => [...patchbay.args(place), '--redis', `redis://127.0.0.1:${port}`]
})
export const inMemory: Server = { name: 'in memory', args: place => [...patchbay.args(place), '--ephemeral'] }

/** The servers of one measurement: a Redis, two nodes on it, and a gateway that needs none. */
export interface Cluster { redis: ServerProcess, first: ServerProcess, second: ServerProcess, alone: ServerProcess }

export async function withRedis<T> (use: (redis: ServerProcess) => Promise<T>): Promise<T> {
  const running = await ServerProcess.listen(redis)
  try {
    return await use(running)
  } finally {
    await running.stop()
  }
}

export async function withCluster<T> (use: (cluster: Cluster) => Promise<T>): Promise<T> {
  return await withRedis(async redis => {
    const node = onRedis(redis.port)
    const started = await Promise.all([node, node, inMemory].map(async server => await ServerProcess.listen(server)))
    const [first, second, alone] = started as [ServerProcess, ServerProcess, ServerProcess]
    try {
      return await use({ redis, first, second, alone })
    } finally {
      for (const running of started) await running.stop()
    }
  })
}

const clientOf = ({ port }: ServerProcess) => createClient({ url: `redis://127.0.0.1:${port}` })

/** Talks to a Redis as an operator does. */
export async function withRedisClient<T> (
  redis: ServerProcess,
  use: (client: ReturnType<typeof clientOf>) => Promise<T>
): Promise<T> {
  const client = clientOf(redis)
  client.on('error', () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    client.destroy()
  }
}
