import { setTimeout as sleep } from 'node:timers/promises'
import ws, { type WebSocket } from '@fastify/websocket'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { closeHookBudget } from '../../lib/time/close-budget.js'

const GOING_AWAY = 1001
const CLOSE_TIMEOUT = 2_000

/** WebSocket upgrades through Fastify's own router, so that every hook holds for sockets too. Bounded in every direction. */
export default fp(async (fastify, { maxMessage, maxFragments, grace }: { maxMessage: number, maxFragments: number, grace: number }) => {
  const closeBudget = Math.min(grace, closeHookBudget(fastify.initialConfig.pluginTimeout))
  const options = {
    maxPayload: maxMessage,
    maxFragments,
    maxBufferedChunks: 8_192,
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT,
    handleProtocols: (offered: Set<string>) => offered.has('mcp') ? 'mcp' : false as const
  }
  await fastify.register(ws, {
    options,
    errorHandler,
    // By now the dispatcher has answered what was in flight.
    preClose: done => {
      const timeUp = new AbortController()
      const late = sleep(closeBudget, undefined, { signal: timeUp.signal, ref: false }).catch(() => {})
      const closed = [...fastify.websocketServer.clients].map(async socket => {
        await Promise.race([written(socket), late])
        socket.close(GOING_AWAY, 'the server is shutting down')
      })
      fastify.websocketServer.close()
      void Promise.all(closed).then(() => { timeUp.abort(); done() })
    }
  })
}, { name: 'websocket', dependencies: ['mcp'] })

/**
 * A client that breaks the protocol, or goes away in the middle of a message, may do so as often as it likes, so this is logged at debug
 * level; ws closes the socket with the code that fits. Every other error is one of ours.
 */
function errorHandler (error: NodeJS.ErrnoException, socket: WebSocket, { log, id }: FastifyRequest): void {
  if (isFaultOfClient(error)) return log.debug({ reqId: id, err: error }, 'a client broke the WebSocket protocol or went away')
  log.error({ reqId: id, err: error }, 'a WebSocket could not be served')
  socket.terminate()
}

const isFaultOfClient = ({ code = '', syscall }: NodeJS.ErrnoException): boolean => code.startsWith('WS_ERR_') || syscall === 'read' || syscall === 'write'

/** Settles when everything said so far was handed to the operating system, or the socket is gone. */
async function written (socket: WebSocket): Promise<void> {
  if (socket.readyState !== socket.OPEN || socket.bufferedAmount === 0) return
  await new Promise<void>(resolve => {
    socket.once('close', () => resolve())
    socket.ping(undefined, undefined, () => resolve())
  })
}
