import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Channel } from '../protocol/channel.js'
import { Cohort, WHEN_SETTLED } from '../protocol/cohort.js'
import type { Sink } from '../protocol/resumable-stream.js'

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
    respond: (text, status, headers) => sendJson(reply, text, status, headers),
    emit: () => {},
    end: () => sendJson(reply, undefined, 202)
  }
}

/** From how many characters on a text is made bytes once, and not measured, joined and encoded in turn. */
const LONG = 8_192

interface JsonReply { reply: FastifyReply, text: string | undefined, status: number, headers: Record<string, string> | undefined }

const answers = new Cohort<JsonReply>(({ reply, text, status, headers }) => {
  // A client that went away meanwhile is not an error.
  if (reply.raw.destroyed) return
  reply.code(status)
  if (headers !== undefined) reply.headers(headers)
  if (text === undefined) void reply.send()
  else void reply.header('content-type', 'application/json').send(text.length > LONG ? Buffer.from(text) : text)
}, WHEN_SETTLED)

/** Sends text that is JSON already, or nothing, together with whatever else is answered now. */
export function sendJson (reply: FastifyReply, text: string | undefined, status: number, headers?: Record<string, string>): void {
  answers.add({ reply, text, status, headers })
}

/** The body as bytes, as the parser of these routes leaves it; a request without one is an empty message. */
export const bodyOf = ({ body }: FastifyRequest): Uint8Array => body instanceof Uint8Array ? body : new Uint8Array()
