import type { WebSocket } from '@fastify/websocket'
import t from 'tap'
import { gateway } from '../../support/gateway.js'
import { inTime } from '../../support/wait.js'

t.test('a socket that cannot be closed does not keep the gateway from closing, and is logged', async t => {
  const lines: string[] = []
  const app = await gateway(
    t,
    {},
    {
      logger: {
        level: 'error',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  )
  const broken = {
    readyState: 3,
    OPEN: 1,
    bufferedAmount: 0,
    close: () => {
      throw new Error('unforeseen')
    },
    terminate: () => {}
  }
  app.websocketServer.clients.add(broken as unknown as WebSocket)
  await inTime(app.close(), 'the end')
  t.match(lines.join(''), /WebSockets could not be closed in order/)
})
