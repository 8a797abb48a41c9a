import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { Channel } from '../../protocol/wire/channel.js'
import { Cohort, WHEN_SETTLED } from '../../lib/turn-batch.js'
import type { SharedTail } from '../../protocol/wire/result.js'
import type { Sink } from '../../protocol/sessions/sink.js'

/** Why calls end whose reply nobody waits for. One for all: it is told of every connection, and is news to calls in flight only. */
export const GONE = new Error('the client closed the connection')

/** An event stream that cannot be resumed. */
export function overSink (sink: Sink): Channel {
  return {
    streams: true,
    respond: text => sink.write({ text }),
    emit: (text, method) => sink.write({ text, method }),
    end: () => sink.end()
  }
}

/** A reply that can be nothing but one JSON answer. */
export function jsonReply (reply: FastifyReply): Channel {
  return {
    streams: false,
    hasStatus: true,
    counted: true,
    headers: reply.request.headers,
    respond: (text, status, headers) => sendJson(reply, text, status, headers),
    respondShared: (start, ending) => sendShared(reply, start, ending),
    emit: () => {},
    end: () => sendJson(reply, undefined, 202)
  }
}

/** From how many characters on a text is made bytes once, and not measured, joined and encoded in turn. */
const LONG = 8_192

interface JsonReply { reply: FastifyReply, text: string | undefined, ending: SharedTail | undefined, status: number, headers: Record<string, string> | undefined }

const answers = new Cohort<JsonReply>(({ reply, text, ending, status, headers }) => {
  // A client that went away meanwhile is not an error.
  if (reply.raw.destroyed) return
  reply.code(status)
  if (headers !== undefined) reply.headers(headers)
  if (text === undefined) void reply.send()
  else void reply.header('content-type', 'application/json').send(ending === undefined ? written(text) : begun(reply, text, ending))
}, WHEN_SETTLED)

const written = (text: string): string | Buffer => text.length > LONG ? Buffer.from(text) : text

/** Bodies that need not be put together, unless somebody changes them. */
const parts = new WeakMap<FastifyReply, { start: string, ending: SharedTail, body: string }>()

function begun (reply: FastifyReply, start: string, ending: SharedTail): string {
  const body = start + ending.text
  if (ending.text.length > LONG && reply.request.raw.httpVersionMajor === 1) parts.set(reply, { start, ending, body })
  return body
}

/** The last hook of routes that send such bodies: what is still as we made it is written in its parts, without a copy of the second. */
export const writeParts: onSendHookHandler = (_request, reply, payload, done) => {
  const known = parts.get(reply)
  if (known === undefined || payload !== known.body || reply.statusCode !== 200) return done(null, payload)
  const { raw } = reply
  const { start, ending: { bytes } } = known
  raw.writeHead(reply.statusCode, { ...reply.getHeaders() as Record<string, string>, 'content-length': Buffer.byteLength(start) + bytes.length })
  raw.write(start)
  raw.end(bytes)
}

/** Sends text that is JSON already, or nothing, together with whatever else is answered now. */
export function sendJson (reply: FastifyReply, text: string | undefined, status: number, headers?: Record<string, string>): void {
  answers.add({ reply, text, ending: undefined, status, headers })
}

/** The same with a text of which the second part is sent to many. */
export function sendShared (reply: FastifyReply, start: string, ending: SharedTail): void {
  answers.add({ reply, text: start, ending, status: 200, headers: undefined })
}

/** The body as bytes, as the parser of these routes leaves it; a request without one is an empty message. The request has it no longer: it would keep it until it is answered. */
export function takeBody (request: FastifyRequest): Uint8Array {
  const { body } = request
  request.body = undefined
  return body instanceof Uint8Array ? body : new Uint8Array()
}
