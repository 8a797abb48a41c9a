import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** Answers a call of the tool `attack`; `answer` is what a good server would send. */
type HttpAttack = (reply: ServerResponse, answer: string, request: IncomingMessage) => void | Promise<void>

const MiB = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS = { 'content-type': 'text/event-stream' }
const SECRET = 'the words of the server\'s own page'

export const httpAttacks: Record<string, HttpAttack> = {
  'a redirect to another host': (reply, _answer, request) => {
    reply.writeHead(307, { location: String(request.headers['x-other-host']) }).end()
  },
  'a redirect to itself': (reply, _answer, request) => {
    reply.writeHead(307, { location: String(request.url) }).end()
  },
  'a length that is too long': (reply, answer) => {
    reply.writeHead(200, { ...JSON_TYPE, 'content-length': answer.length + 1_000 }).end(answer)
  },
  'a length that is too short': ({ socket }, answer) => {
    socket?.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n${answer}`)
  },
  'a gzip bomb': reply => {
    reply.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * MiB)))
  },
  'a body without end': async reply => await pour(reply.writeHead(200, JSON_TYPE), '[' + ' '.repeat(MiB)),
  'an event without end': async reply => {
    reply.writeHead(200, EVENTS).write('data: ')
    await pour(reply, 'x'.repeat(MiB))
  },
  'comments without end': async reply => {
    reply.writeHead(200, EVENTS)
    await pour(reply, ': nothing\n\n'.repeat(1_000), 20)
  },
  'events without end': async reply => {
    reply.writeHead(200, EVENTS)
    await pour(
      reply,
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n'.repeat(100),
      20
    )
  },
  'a stream that ends early': reply => {
    reply.writeHead(200, EVENTS).end('data: {"jsonrpc":"2.0",')
  },
  'a stream that says nothing': reply => {
    reply.writeHead(200, EVENTS).flushHeaders()
  },
  'a connection that is cut': ({ socket }) => {
    socket?.destroy()
  },
  'a body that is cut': reply => {
    reply.writeHead(200, JSON_TYPE).write('{"jsonrpc":')
    setTimeout(() => reply.destroy(), 50)
  },
  'a page in place of an answer': reply => {
    reply.writeHead(200, { 'content-type': 'text/html' }).end(SECRET)
  },
  'nothing in place of an answer': reply => {
    reply.writeHead(200, JSON_TYPE).end()
  },
  '202 in place of an answer': reply => {
    reply.writeHead(202).end()
  },
  'status 500': reply => {
    reply.writeHead(500, { 'content-type': 'text/plain' }).end(SECRET)
  },
  'status 401': reply => {
    reply.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://evil.example/"' }).end(SECRET)
  },
  'headers without end': async ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\n')
    for (let count = 0; count < 2_000 && socket?.destroyed === false; count++) {
      if (!socket.write(`x-${count}: ${'x'.repeat(1_000)}\r\n`)) await drained(socket)
    }
  },
  'an answer to another request': (reply, answer) => {
    reply.writeHead(200, JSON_TYPE).end(answer.replace(/"id":[^,]*/, '"id":"another"'))
  }
}

// Until the other side closes the connection.
async function pour (reply: ServerResponse, chunk: string, pause = 0): Promise<void> {
  reply.on('error', () => {})
  while (!reply.destroyed) {
    if (!reply.write(chunk)) await drained(reply)
    await new Promise(resolve => setTimeout(resolve, pause))
  }
}

// Settles when it can be written again, and when it is closed.
async function drained (stream: EventEmitter): Promise<void> {
  const events = ['drain', 'close', 'error']
  await new Promise<void>(resolve => {
    const settle = (): void => { for (const event of events) stream.off(event, settle); resolve() }
    for (const event of events) stream.on(event, settle)
  })
}
