import ws from '@fastify/websocket'
import fp from 'fastify-plugin'

const GOING_AWAY = 1001
const CLOSE_TIMEOUT = 2_000

/** WebSocket upgrades through Fastify's own router, so that every hook holds for sockets too. Bounded in every direction. */
export default fp(async (fastify, { maxMessage }: { maxMessage: number }) => {
  const options = {
    maxPayload: maxMessage,
    maxFragments: 256,
    maxBufferedChunks: 8_192,
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT,
    handleProtocols: (offered: Set<string>) => offered.has('mcp') ? 'mcp' : false as const
  }
  await fastify.register(ws, {
    options,
    // By now the dispatcher has answered what was in flight.
    preClose: done => {
      for (const socket of fastify.websocketServer.clients) socket.close(GOING_AWAY, 'the server is shutting down')
      fastify.websocketServer.close()
      done()
    }
  })
}, { name: 'websocket', dependencies: ['mcp'] })
