import type { FastifyReply, onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { EventStream, formatEvent, unnamed, type EventName, type QueueLimits } from './event-streams/event-stream.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { closeHookBudget } from '../../lib/time.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /**
     * Server-sent events as HTTP replies, with keep-alive comments, a limit on queued bytes, and an orderly end at
     * shutdown.
     */
    eventStreams: {
      /** `onClose` runs when the client has disconnected, or has read the stream to its end. */
      open: (reply: FastifyReply, nameOf?: EventName, onClose?: () => void) => Sink
      /**
       * Has to be the last onSend hook of routes that open streams: it writes the headers, and Fastify has no part in
       * what follows.
       */
      writeHead: onSendHookHandler
      /** False while as many streams are open as allowed. */
      readonly hasCapacity: boolean
      /** How many streams are open: those that clients listen to, and those that are replies to a call. */
      readonly counts: { readonly listening: number, readonly replies: number }
      /** Throws an HTTP error while there is no capacity. */
      checkCapacity: () => void
    }
  }
}

/**
 * After how many milliseconds clients reconnect when the server closes: a random time, so that they do not come all at
 * once.
 */
const RETRY = { after: 1_000, spread: 4_000 }

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no'
}

export interface EventOptions {
  keepAlive: number
  maxQueue: number
  writeDeadline: number
  grace: number
  maxStreams: number
}

export default fp(async (fastify, { keepAlive, maxQueue, writeDeadline, grace, maxStreams }: EventOptions) => {
  const { dispatcher, connections } = fastify.mcp
  const streams = new EventStreams({ max: maxQueue, deadline: writeDeadline, shared: dispatcher.backlogs }, maxStreams)

  fastify.mcp.provide('eventStreams', {
    get hasCapacity () { return streams.hasCapacity },
    get counts () { return streams.counts },
    checkCapacity: () => { if (!streams.hasCapacity) throw httpErrors.tooManyStreams() },
    open: (reply, nameOf = unnamed, onClose = ignore) => {
      const stream = streams.open(reply, nameOf, onClose)
      connections.onGone(reply, () => stream.onDisconnected())
      void reply.headers(HEADERS).send()
      return stream
    },
    writeHead: (_request, reply, payload, done) => {
      const stream = payload === undefined ? streams.takeUnsent(reply) : undefined
      if (stream === undefined) done()
      else stream.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
    }
  })

  const timer = setInterval(() => streams.keepAlive(), keepAlive).unref()

  fastify.addHook('preClose', async () => {
    clearInterval(timer)
    streams.endAll()
    await connections.flush(Math.min(grace, closeHookBudget(fastify.initialConfig.pluginTimeout)))
    streams.cutAll()
  })
}, { name: 'patchbay-event-streams', dependencies: ['patchbay-mcp', 'patchbay-connections'] })

/** The open streams of the server. */
class EventStreams {
  readonly #limits: QueueLimits
  readonly #maxStreams: number
  readonly #open = new Set<EventStream>()
  #replies = 0
  /** Ended, but not read to the end by their clients yet. */
  readonly #ending = new Set<EventStream>()
  /** Opened, but not through all onSend hooks yet. */
  readonly #unsent = new WeakMap<FastifyReply, EventStream>()

  constructor (limits: QueueLimits, maxStreams: number) {
    this.#limits = limits
    this.#maxStreams = maxStreams
  }

  get hasCapacity (): boolean {
    return this.#open.size + this.#ending.size < this.#maxStreams
  }

  get counts (): { listening: number, replies: number } {
    return { listening: this.#open.size + this.#ending.size - this.#replies, replies: this.#replies }
  }

  open (reply: FastifyReply, nameOf: EventName, onClose: () => void): EventStream {
    const isReply = reply.request.method !== 'GET'
    if (isReply) this.#replies++
    const stream: EventStream = new EventStream(reply.raw, nameOf, this.#limits, {
      onEnd: () => { if (this.#open.delete(stream)) this.#ending.add(stream) },
      onClose: () => {
        offExpiry()
        if (isReply) this.#replies--
        this.#open.delete(stream)
        this.#ending.delete(stream)
        onClose()
      }
    })
    // The stream of a POST ends with its call; other streams end when the credential of their client expires.
    const offExpiry = isReply ? ignore : onExpiry(reply.request.identity, () => stream.end())
    this.#open.add(stream)
    this.#unsent.set(reply, stream)
    return stream
  }

  /** The stream of a reply whose headers are not written yet. */
  takeUnsent (reply: FastifyReply): EventStream | undefined {
    const stream = this.#unsent.get(reply)
    this.#unsent.delete(reply)
    return stream
  }

  keepAlive (): void {
    for (const stream of this.#open) stream.push(': keep-alive\n\n')
  }

  /** Tells every client when to reconnect, and ends its stream. */
  endAll (): void {
    for (const stream of this.#open) {
      stream.push(formatEvent({ text: '', retry: RETRY.after + Math.floor(Math.random() * RETRY.spread) }, undefined))
      stream.end()
    }
  }

  /** Destroys the streams whose clients have not read them to the end. */
  cutAll (): void {
    for (const stream of this.#ending) stream.cut()
  }
}

function ignore (): void {}
