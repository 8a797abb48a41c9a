import websocket from '@fastify/websocket'
import fastify from 'fastify'
import { replyTo, type Asked } from './reply.js'

// The limit for WebSocket: what its README shows, and JSON.
const app = fastify()
await app.register(websocket)
app.get('/mcp', { websocket: true }, socket => {
  socket.on('message', (data: Buffer) => {
    const reply = replyTo(JSON.parse(String(data)) as Asked)
    if (reply !== undefined) socket.send(JSON.stringify(reply))
  })
})
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
