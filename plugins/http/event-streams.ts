import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { Backlog, type BacklogOptions } from '../../lib/backlog.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { closeHookBudget } from '../../lib/time/close-budget.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import type { Sink, StreamEvent } from '../../protocol/sessions/sink.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Server-sent events as Fastify replies, with keep-alive comments, a bound on what waits, and an orderly end. */
    eventStreams: {
      open: (reply: FastifyReply, nameOf?: EventName, onClose?: () => void) => Sink
      /** The last hook of the routes that open streams: behind it a stream is written without Fastify. */
      begin: onSendHookHandler
      /** False when as many streams are open as allowed. */
      readonly hasCapacity: boolean
      /** Throws a refusal when there is no room, for those that open a stream and nothing else. */
      checkCapacity: () => void
    }
  }
}

/** The `event:` name of a message, if it has one. */
export type EventName = (method: string | undefined) => string | undefined

/** When clients whose streams we end come back: not all at once. */
const RETRY = { after: 1_000, spread: 4_000 }

export interface EventOptions { keepAlive: number, maxQueue: number, writeDeadline: number, grace: number, maxStreams: number }

export default fp(async (fastify, { keepAlive, maxQueue, writeDeadline, grace, maxStreams }: EventOptions) => {
  const open = new Set<EventStream>()
  /** Ended, but not read to the end yet. */
  const ending = new Set<EventStream>()
  /** Opened, but not seen by every hook yet. */
  const unsent = new WeakMap<FastifyReply, EventStream>()
  const limits = { max: maxQueue, deadline: writeDeadline, shared: fastify.mcp.dispatcher.backlogs }

  fastify.mcp.provide('eventStreams', {
    get hasCapacity () { return open.size + ending.size < maxStreams },
    checkCapacity: () => {
      if (!fastify.mcp.eventStreams.hasCapacity) throw httpErrors.tooManyStreams()
    },
    open: (reply, nameOf = unnamed, onClose = () => {}) => {
      const stream: EventStream = new EventStream(reply.raw, nameOf, limits, {
        ended: () => { if (open.delete(stream)) ending.add(stream) },
        over: () => {
          forget()
          open.delete(stream)
          ending.delete(stream)
          onClose()
        }
      })
      // A reply to a call ends with it; other streams end with what let their reader in.
      const forget = reply.request.method === 'GET' ? onExpiry(reply.request.identity, () => stream.end()) : () => {}
      open.add(stream)
      fastify.mcp.connections.onGone(reply, () => stream.gone())
      unsent.set(reply, stream)
      void reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' }).send()
      return stream
    },
    begin: (_request, reply, payload, done) => {
      const stream = payload === undefined ? unsent.get(reply) : undefined
      if (stream === undefined) return done()
      unsent.delete(reply)
      stream.begin(reply)
    }
  })

  const heart = setInterval(() => { for (const stream of open) stream.push(': keep-alive\n\n') }, keepAlive).unref()

  fastify.addHook('preClose', async () => {
    clearInterval(heart)
    for (const stream of open) {
      stream.push(format({ text: '', retry: RETRY.after + Math.floor(Math.random() * RETRY.spread) }, undefined))
      stream.end()
    }
    await fastify.mcp.connections.flush(Math.min(grace, closeHookBudget(fastify.initialConfig.pluginTimeout)))
    // Whoever does not read the rest in time does not keep us here.
    for (const stream of ending) stream.cut()
  })
}, { name: 'patchbay-event-streams', dependencies: ['patchbay-mcp', 'patchbay-connections'] })

/** One stream, written to the connection as it comes: a stream of Node.js in between would be half of what an idle client costs. */
class EventStream implements Sink {
  readonly named: boolean
  readonly #raw: ServerResponse
  readonly #nameOf: EventName
  readonly #max: number
  readonly #backlog: Backlog
  readonly #heard: { ended: () => void, over: () => void }
  /** What was said before the headers could leave: some text at once, so that the client knows that it is connected. */
  #early: string | undefined = ': open\n\n'
  #ended = false
  #over = false

  constructor (raw: ServerResponse, nameOf: EventName, limits: Pick<BacklogOptions, 'max' | 'deadline' | 'shared'>, heard: { ended: () => void, over: () => void }) {
    this.named = nameOf !== unnamed
    this.#raw = raw
    this.#nameOf = nameOf
    this.#max = limits.max
    this.#backlog = new Backlog({ ...limits, size: () => this.#waiting, cut: () => this.cut() })
    this.#heard = heard
  }

  begin (reply: FastifyReply): void {
    const early = this.#early
    if (this.#over || early === undefined) return
    this.#early = undefined
    // A client that goes away is not an error of ours.
    this.#raw.on('error', ignore)
    this.#raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
    this.#raw.write(early)
    if (this.#ended) this.#raw.end()
  }

  write (event: StreamEvent): void {
    if (this.#ended) return
    const text = format(event, this.#nameOf(event.method))
    this.push(text)
    this.#backlog.recordWrite(Buffer.byteLength(text), event.method === undefined || event.method === '')
  }

  push (text: string): void {
    if (this.#early === undefined) this.#raw.write(text)
    else this.#early += text
  }

  end (): void {
    if (this.#ended) return
    this.#ended = true
    this.#heard.ended()
    if (this.#early === undefined) this.#raw.end()
  }

  close (): void {
    const { socket, httpVersionMajor } = this.#raw.req
    this.end()
    // A client that is not there any more would not close the connection, and keep it as one that is idle.
    if (httpVersionMajor === 1 && socket instanceof Socket && !this.#over) this.#raw.once('finish', () => socket.destroySoon())
  }

  isFull (): boolean {
    return this.#waiting > this.#max
  }

  cut (): void {
    this.#raw.destroy()
    this.gone()
  }

  /** Nobody reads it any more; told in a moment, because it may be found while the stream is opened or written to. */
  gone (): void {
    if (this.#over) return
    this.#ended = this.#over = true
    this.#backlog.stop()
    queueMicrotask(this.#heard.over)
  }

  get #waiting (): number {
    return (this.#early?.length ?? 0) + this.#raw.writableLength
  }
}

const unnamed: EventName = () => undefined

function ignore (): void {}

// The text is JSON on one line, so it needs no splitting.
function format ({ id, text, retry }: StreamEvent, name: string | undefined): string {
  return (name === undefined ? '' : `event: ${name}\n`) +
    (id === undefined ? '' : `id: ${id}\n`) +
    (retry === undefined ? '' : `retry: ${retry}\n`) +
    (id === undefined && text === '' ? '\n' : `data: ${text}\n\n`)
}
