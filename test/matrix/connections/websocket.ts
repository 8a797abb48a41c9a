import { once } from 'node:events'
import { WebSocket } from 'ws'
import { suffixOf, type Place, type Receive, type Connection } from '../connection.js'

/** A WebSocket on `/mcp`. */
export async function openWebSocket (place: Place, receive: Receive): Promise<Connection> {
  const socket = new WebSocket(`${place.url.replace('http', 'ws')}/mcp${suffixOf(place)}`, 'mcp')
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
