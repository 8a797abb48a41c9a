import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { SessionRegistry } from '../../protocol/sessions/registry.js'
import type { SessionLimits } from '../../protocol/sessions/registry-ports.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The sessions of stateful HTTP clients. */
    sessions: SessionRegistry
  }
}

/**
 * Serves the sessions of stateful HTTP clients as long as the server runs, and leaves them in the store when it closes.
 */
export default fp(
  async (fastify, limits: SessionLimits) => {
    const { mcp, log } = fastify
    const { dispatcher, store, health, pressure, resources, nodeCalls } = mcp
    let lastLoggedError: string | undefined

    const sessions = new SessionRegistry(limits, {
      store: store.sessions,
      nodeCalls,
      // A disk writes the events of one turn together; in Redis each of them is a command. A gateway that restarts has
      // to find them on its disk.
      defersAnnouncements: store.kind === 'redis',
      decode: text => dispatcher.decode(text),
      connect: peer => dispatcher.lifecycle.connect(peer),
      disconnect: (peer, reason) => dispatcher.lifecycle.disconnect(peer, reason),
      checkPressure: () => {
        if (pressure.level !== 'none') throw httpErrors.overloaded(pressure.why)
      },
      checkStore: () => {
        if (store.kind === 'redis' && store.failure !== undefined) throw httpErrors.sessionsUnavailable(store.failure)
      },
      reportHealth: problem => health.report('sessions', problem),
      subscribe: async (uri, peer) => {
        await resources.subscribe(uri, peer)
      },
      unsubscribe: (uri, peer) => resources.unsubscribe(uri, peer),
      onTrouble
    })
    mcp.provide('sessions', sessions)

    // A store that cannot write fails alike for every session: the same error is logged once, until the store recovers
    // or fails otherwise.
    const offStoreFailure = store.onFailureChange(() => {
      lastLoggedError = undefined
    })
    function onTrouble (error: unknown): void {
      if (String(error) === lastLoggedError) return
      lastLoggedError = String(error)
      log.error({ err: error }, 'a session could not be stored or read')
    }

    sessions.start()
    fastify.addHook('onListen', async () => {
      sessions.takeOver(nodeAddress(fastify)).catch(onTrouble)
    })
    fastify.addHook('preClose', async () => await sessions.flush())
    fastify.addHook('onClose', async () => {
      offStoreFailure()
      sessions.close()
    })
  },
  {
    name: 'patchbay-sessions',
    dependencies: ['patchbay-mcp', 'patchbay-node-calls', 'patchbay-health', 'patchbay-pressure', 'patchbay-resources']
  }
)

/** The machine and where the server listens on it: no two nodes have the same. */
function nodeAddress (fastify: FastifyInstance): string {
  return [
    hostname(),
    ...fastify
      .addresses()
      .map(at => (typeof at === 'string' ? at : `${at.address}:${at.port}`))
      .sort()
  ].join(' ')
}
