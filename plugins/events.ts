import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { Backlog } from '../protocol/backlog.js'
import { onExpiry } from '../protocol/expiry.js'
import { patience } from '../protocol/patience.js'
import { refusal } from '../protocol/refusal.js'
import type { Sink, StreamEvent } from '../protocol/resumable-stream.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Server-sent events as Fastify replies, with keep-alive comments, a bound on what waits, and an orderly end. */
    events: {
      open: (reply: FastifyReply, nameOf?: EventName, onClose?: () => void) => Sink
      /** False when as many streams are open as allowed. */
      readonly hasRoom: boolean
      /** Throws a refusal when there is no room, for those that open a stream and nothing else. */
      checkRoom: () => void
    }
  }
}

/** The `event:` name of a message, if it has one. */
export type EventName = (method: string | undefined) => string | undefined

/** When clients whose streams we end come back: not all at once. */
const RETRY = { after: 1_000, spread: 4_000 }

export interface EventOptions { keepAlive: number, maxQueue: number, writeDeadline: number, grace: number, maxStreams: number }

export default fp(async (fastify, { keepAlive, maxQueue, writeDeadline, grace, maxStreams }: EventOptions) => {
  const open = new Set<Readable>()
  /** Ended, but not read to the end yet. */
  const ending = new Set<Readable>()

  fastify.decorate('events', {
    get hasRoom () { return open.size + ending.size < maxStreams },
    checkRoom: () => {
      if (!fastify.events.hasRoom) throw refusal(503, 'there are too many event streams (option maxStreams); try again later')
    },
    open: (reply, nameOf = () => undefined, onClose = () => {}) => {
      const stream = new Readable({ read () {} })
      const backlog = new Backlog({ size: () => stream.readableLength, max: maxQueue, deadline: writeDeadline, cut: () => stream.destroy(), together: fastify.mcp.backlogs })
      // A reply to a call ends with it; other streams end with what let their reader in.
      const forget = reply.request.method === 'GET' ? onExpiry(reply.request.identity, () => end(stream)) : () => {}
      open.add(stream)
      stream.once('close', () => {
        backlog.stop()
        forget()
        open.delete(stream)
        ending.delete(stream)
        onClose()
      })
      reply.onGone(() => stream.destroy())
      // A client that goes away is not an error of ours.
      stream.on('error', () => {})
      // Some text at once, so that the headers leave and the client knows that it is connected.
      stream.push(': open\n\n')
      reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
      void reply.send(stream)
      return {
        write: event => {
          if (!open.has(stream)) return
          const text = format(event, nameOf(event.method))
          stream.push(text)
          backlog.written(Buffer.byteLength(text), event.method === undefined || event.method === '')
        },
        end: () => end(stream),
        isFull: () => stream.readableLength > maxQueue
      }
    }
  })

  const heart = setInterval(() => { for (const stream of open) stream.push(': keep-alive\n\n') }, keepAlive).unref()

  fastify.addHook('preClose', async () => {
    clearInterval(heart)
    for (const stream of open) {
      stream.push(format({ text: '', retry: RETRY.after + Math.floor(Math.random() * RETRY.spread) }, undefined))
      end(stream)
    }
    await fastify.flushed(Math.min(grace, patience(fastify.initialConfig.pluginTimeout)))
    // Whoever does not read the rest in time does not keep us here.
    for (const stream of ending) stream.destroy()
  })

  function end (stream: Readable): void {
    if (!open.delete(stream)) return
    ending.add(stream)
    stream.push(null)
  }
}, { name: 'events', dependencies: ['mcp', 'connections'] })

// The text is JSON on one line, so it needs no splitting.
function format ({ id, text, retry }: StreamEvent, name: string | undefined): string {
  return (name === undefined ? '' : `event: ${name}\n`) +
    (id === undefined ? '' : `id: ${id}\n`) +
    (retry === undefined ? '' : `retry: ${retry}\n`) +
    (id === undefined && text === '' ? '\n' : `data: ${text}\n\n`)
}
