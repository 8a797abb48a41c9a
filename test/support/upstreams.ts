import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Options } from '../../app.js'
import { listening } from './gateway.js'
import { until } from './wait.js'

/**
 * A gateway without tools of its own in front of these servers, listening, when all of them are connected and listed.
 */
export async function inFrontOf (
  t: Test,
  mcpServers: Record<string, object>,
  options: Partial<Options> = {}
): Promise<{ app: FastifyInstance, url: string }> {
  const place = await listening(t, { plugins: [], tools: false, ...options, mcpServers })
  await upstreamsReady(place.app, Object.keys(mcpServers))
  return place
}

/**
 * Settles when the lists of these servers are read. They are connected then, but for one that was idle for longer than
 * its entry allows, as it may be on a busy machine.
 */
export async function upstreamsReady ({ mcp }: FastifyInstance, names: string[]): Promise<void> {
  const isReady = (name: string): boolean =>
    mcp.upstreams
      .status()
      .some(({ alias, state, stale, tools }) =>
        alias === name && (state === 'stopped' || (state === 'ready' && !stale)) && tools > 0)
  await until(() => names.every(isReady), `the start of ${names.join(', ')}`).catch(error => {
    throw new Error(`${String(error)}: ${JSON.stringify(mcp.upstreams.status())}`)
  })
}
