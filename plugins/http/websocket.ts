import { setTimeout as sleep } from 'node:timers/promises'
import ws, { type WebSocket } from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { answerPings } from '../../lib/websocket.js'
import { closeHookBudget } from '../../lib/time.js'

/** How long ws waits for the client's close frame, in milliseconds. */
const CLOSE_TIMEOUT = 2_000
/** How many chunks of one socket ws keeps while it parses a message. */
const MAX_BUFFERED_CHUNKS = 8_192

export interface WebSocketServerOptions {
  maxMessage: number
  maxFragments: number
  grace: number
  /** How sockets are closed when the server shuts down. */
  shuttingDown: { code: number, reason: string }
}

/** WebSocket upgrades through Fastify's router, so that every hook holds for sockets too. */
export default fp(async (fastify, { maxMessage, maxFragments, grace, shuttingDown }: WebSocketServerOptions) => {
  const budgetMs = Math.min(grace, closeHookBudget(fastify.initialConfig.pluginTimeout))
  // A variable, because the types of ws do not know maxFragments yet.
  const options = {
    maxPayload: maxMessage,
    maxFragments,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    perMessageDeflate: false,
    autoPong: false,
    closeTimeout: CLOSE_TIMEOUT,
    handleProtocols: (offered: Set<string>) => offered.has('mcp') ? 'mcp' : false as const
  }
  await fastify.register(ws, {
    options,
    errorHandler,
    // The dispatcher has answered the calls in flight by now.
    preClose: done => {
      const onTrouble = (error: unknown): void =>
        fastify.log.error({ err: error }, 'WebSockets could not be closed in order')
      closeAll(fastify.websocketServer, budgetMs, shuttingDown).catch(onTrouble).finally(() => done())
    }
  })
  fastify.websocketServer.on('connection', socket => answerPings(socket))
  // The hooks of a second copy of @fastify/websocket, which the host application may register later, run for our
  // routes, too. They would take a request that we refused for one of theirs, and fail.
  if (!fastify.mcp.standalone) fastify.addHook('onRequest', (request, _reply, done) => { request.ws = false; done() })
}, { name: 'patchbay-websocket', dependencies: ['patchbay-mcp'] })

/** Closes each socket when its queue is written, or when the time is up. */
async function closeAll (
  server: FastifyInstance['websocketServer'],
  budgetMs: number,
  close: WebSocketServerOptions['shuttingDown']
): Promise<void> {
  const controller = new AbortController()
  const timeUp = sleep(budgetMs, undefined, { signal: controller.signal, ref: false }).catch(() => {})
  const closed = [...server.clients].map(async socket => {
    await Promise.race([queueWritten(socket), timeUp])
    socket.close(close.code, close.reason)
  })
  server.close()
  await Promise.all(closed)
  controller.abort()
}

/** Settles when everything sent so far was handed to the operating system, or the socket is closed. */
async function queueWritten (socket: WebSocket): Promise<void> {
  if (socket.readyState !== socket.OPEN || socket.bufferedAmount === 0) return
  await new Promise<void>(resolve => {
    socket.once('close', () => resolve())
    socket.ping(undefined, undefined, () => resolve())
  })
}

/**
 * Broken frames and lost connections are logged at debug level, because a client can cause any number of them; ws
 * closes the socket with the code that fits. Every other error is ours.
 */
function errorHandler (error: NodeJS.ErrnoException, socket: WebSocket, { log, id }: FastifyRequest): void {
  if (isFaultOfClient(error)) {
    return log.debug({ reqId: id, err: error }, 'a client broke the WebSocket protocol or went away')
  }
  log.error({ reqId: id, err: error }, 'a WebSocket could not be served')
  socket.terminate()
}

const isFaultOfClient = ({ code = '', syscall }: NodeJS.ErrnoException): boolean =>
  code.startsWith('WS_ERR_') || syscall === 'read' || syscall === 'write'
