// Compiled, never run: `app.mcp` and its members have types for programs that import the package.
import Fastify from 'fastify'
import { patchbay, tool, type Mcp } from '../../app.js'

const app = Fastify()
await app.register(patchbay, { prefix: '/ai' })

const mcp: Mcp = app.mcp
const names: string[] = mcp.tools.names()
const sessions: number = mcp.sessions.size
const status: 'healthy' | 'degraded' | 'overloaded' | 'draining' = mcp.health.now().status
mcp.tools.add(tool({ name: 'typed', description: 'd', run: () => `${names.length} ${sessions} ${status}` }))
// @ts-expect-error what is not a tool
mcp.tools.add({ name: 'wrong' })
// @ts-expect-error there is no such member
void mcp.missing
// @ts-expect-error a member has one type
mcp.provide('tools', 1)
// @ts-expect-error the application itself has no more members than before
void app.tools
