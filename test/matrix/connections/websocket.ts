import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Place, Receive, Connection } from '../connection.js'

/** A WebSocket on `/mcp`. */
export async function openWebSocket ({ url }: Place, receive: Receive): Promise<Connection> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, 'mcp')
  socket.on('message', (data: Buffer) => receive(JSON.parse(data.toString())))
  await once(socket, 'open')
  return {
    send: ({ text }) => {
      socket.send(text)
      return { drop: () => { throw new Error('one frame of a WebSocket cannot be dropped') } }
    },
    close: async () => {
      if (socket.readyState === WebSocket.CLOSED) return
      socket.close()
      await once(socket, 'close')
    }
  }
}
