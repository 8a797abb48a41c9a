import type { FastifyReply, onSendHookHandler } from 'fastify'
import { TurnBatch, onMicrotask } from '../../lib/turn-batch.js'
import type { SharedTail } from '../../protocol/wire/result.js'

/** From how many characters on a body is encoded here: Node.js would measure, join and encode it in turn. */
const LONG = 8_192

interface JsonReply {
  reply: FastifyReply
  text: string | undefined
  tail: SharedTail | undefined
  status: number
  headers: Record<string, string> | undefined
}

/**
 * Sends JSON text, with the `content-type` of the headers if they have one, or no body. Replies that are ready in the
 * same microtask run are written together.
 */
export function sendJson (
  reply: FastifyReply,
  text: string | undefined,
  status: number,
  headers?: Record<string, string>
): void {
  outgoing.add({ reply, text, tail: undefined, status, headers })
}

/**
 * Sends a response whose tail many replies share, such as a page of a list: HTTP/1 writes a long tail without copying
 * it.
 */
export function sendPrepared (reply: FastifyReply, start: string, tail: SharedTail): void {
  outgoing.add({ reply, text: start, tail, status: 200, headers: undefined })
}

const outgoing = new TurnBatch<JsonReply>(({ reply, text, tail, status, headers }) => {
  // A client that has disconnected meanwhile is not an error.
  if (reply.raw.destroyed) return
  reply.code(status)
  if (headers !== undefined) reply.headers(headers)
  if (text === undefined) void reply.send()
  else {
    void reply
      .header('content-type', headers?.['content-type'] ?? 'application/json')
      .send(tail === undefined ? encodeLong(text) : joinPrepared(reply, text, tail))
  }
}, onMicrotask)

const encodeLong = (text: string): string | Buffer => text.length > LONG ? Buffer.from(text) : text

/** The two parts of bodies, by reply, while hooks of the host application may still change the body. */
const prepared = new WeakMap<FastifyReply, { start: string, tail: SharedTail, body: string }>()

// Hooks see the whole body. Joining is cheap: V8 makes a string that refers to both parts.
function joinPrepared (reply: FastifyReply, start: string, tail: SharedTail): string {
  const body = start + tail.text
  if (tail.text.length > LONG && reply.request.raw.httpVersionMajor === 1) prepared.set(reply, { start, tail, body })
  return body
}

/**
 * Has to be the last onSend hook of the routes that use `sendPrepared`: writes a body that no hook has changed in its
 * two parts.
 */
export const writePrepared: onSendHookHandler = (_request, reply, payload, done) => {
  const parts = prepared.get(reply)
  if (parts === undefined || payload !== parts.body || reply.statusCode !== 200) return done(null, payload)
  const { raw } = reply
  const { start, tail: { bytes } } = parts
  raw.writeHead(reply.statusCode, {
    ...reply.getHeaders() as Record<string, string>,
    'content-length': Buffer.byteLength(start) + bytes.length
  })
  raw.write(start)
  raw.end(bytes)
}
