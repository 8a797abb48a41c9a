import type { FastifyReply } from 'fastify'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { sendJson, sendPrepared } from './json-reply.js'

/** Sends server-sent events that cannot be resumed. */
export function sinkChannel (sink: Sink): Channel {
  return {
    streams: true,
    respond: text => sink.write({ text }),
    emit: (text, method) => sink.write({ text, method }),
    unwritten: () => sink.unwritten?.() ?? 0,
    end: () => sink.end()
  }
}

/** An HTTP reply that carries one JSON response and nothing else. */
export function jsonChannel (reply: FastifyReply): Channel {
  return {
    streams: false,
    hasStatus: true,
    isRateCounted: true,
    headers: reply.request.headers,
    get address () {
      return reply.request.ip
    },
    narrowing: narrowingOf(reply.request.query, reply.request.headers),
    respond: (text, status, headers) => sendJson(reply, text, status, headers),
    respondShared: (start, tail) => sendPrepared(reply, start, tail),
    emit: () => {},
    end: () => sendJson(reply, undefined, 202)
  }
}
