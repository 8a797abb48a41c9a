import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { versions } from '../protocol/revisions/table.js'
import { tool } from '../protocol/definitions/tool.js'
import { runtime } from '../system/process/usage.js'

type Status = 'healthy' | 'degraded' | 'overloaded' | 'draining'

const Output = Type.Object({
  status: Type.Unsafe<Status>({
    type: 'string',
    enum: ['healthy', 'degraded', 'overloaded', 'draining'] satisfies Status[]
  }),
  reason: Type.Optional(Type.String()),
  parts: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'What is wrong with which part' })),
  uptime: Type.Integer({ description: 'Seconds' }),
  versions: Type.Object({ server: Type.String(), node: Type.String(), protocol: Type.Array(Type.String()) }),
  transports: Type.Array(Type.String()),
  sessions: Type.Integer(),
  peers: Type.Integer(),
  memory: Type.Object({ rss: Type.Integer(), heapUsed: Type.Integer() }, { description: 'Bytes' }),
  store: Type.Object({
    kind: Type.Unsafe<'memory' | 'disk' | 'redis'>({ type: 'string', enum: ['memory', 'disk', 'redis'] }),
    writable: Type.Boolean()
  }),
  upstreams: Type.Optional(
    Type.Array(
      Type.Object({
        alias: Type.String(),
        state: Type.String({ description: 'ready, starting, stopped, backing off, crash loop, needs sign-in, disabled or closed' }),
        stale: Type.Boolean({ description: 'True while its lists are those of an earlier start' }),
        transport: Type.String(),
        revision: Type.Optional(Type.String()),
        tools: Type.Integer(),
        restarts: Type.Integer(),
        lastError: Type.Optional(Type.String()),
        warnings: Type.Integer({ description: 'How many things it lists are left out or hidden' })
      }),
      { description: 'The servers behind this one' }
    )
  ),
  unavailable: Type.Record(Type.String(), Type.String(), { description: 'What is not served here, and why' })
})

export default async function healthCheck ({
  mcp,
  mcp: { tools, health, unavailable }
}: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'health_check',
      title: 'Health',
      description:
        'Tell how the server is: status, uptime, versions, transports, sessions, memory, store and upstream servers',
      annotations: { readOnlyHint: true, openWorldHint: false },
      output: Output,
      run: () => {
        const { node, memory } = runtime()
        // A caller that gets here was let in.
        const { ready, ...now } = health.now()
        return {
          ...now,
          versions: { server: mcp.dispatcher.server.info.version, node, protocol: [...versions] },
          memory,
          unavailable: Object.fromEntries(unavailable)
        }
      }
    })
  )
}
