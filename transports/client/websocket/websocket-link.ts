import type { Readable } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { answerPings } from '../../../lib/websocket.js'
import { limitPerSecond, withTimeout } from '../../../lib/time.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import type { Id } from '../../../protocol/wire/jsonrpc.js'
import { Heartbeat } from '../../websocket/heartbeat.js'
import type { Link, LinkEvents, LinkRequest, LinkLimits } from '../link.js'
import { PipeShares } from '../queue-shares.js'
import { IncomingReply, isLarge } from '../reply-budget.js'
import { MessageDecoder, reportMessages } from '../report-messages.js'
import { PausableSource, UnaskedMessages, type Source } from '../unasked-messages.js'
import { describeClose } from './close-words.js'

export interface WebSocketLinkOptions extends LinkLimits {
  /**
   * The most bytes that wait for a server that does not read. The calls of one caller have at most half of what the
   * others leave.
   */
  readonly maxQueue: number
  /** The interval between pings, in milliseconds. */
  readonly heartbeat: number
  /** The most pings and pongs of the server in a second. */
  readonly maxPings: number
}

/** How long the server has to answer a close frame, in milliseconds. */
const CLOSE_TIMEOUT = 2_000

const UNREAD = 'it does not read what is sent to it'

/** How many bytes of a ping or pong precede its data. */
const CONTROL_HEAD = 2

/** A link over an open, paused WebSocket: one message a frame. */
export class WebSocketLink implements Link {
  readonly transport = 'websocket'
  readonly channel: Channel
  readonly #socket: WebSocket
  readonly #options: WebSocketLinkOptions
  readonly #events: LinkEvents
  readonly #heartbeat: Heartbeat
  readonly #unasked: UnaskedMessages
  readonly #decoder: MessageDecoder
  readonly #shares: PipeShares
  readonly #ended: Promise<void>
  readonly #source: Source
  /** Messages of the chunk during which it was paused. */
  readonly #waiting: Buffer[] = []
  #isPaused = false
  /** How many bytes have come since the last message, without pings and pongs. */
  #incomplete = 0
  #incoming: IncomingReply | undefined
  /** Why the gateway ends it. */
  #why: string | undefined

  /** `bytes` is the stream under the socket: how much is there of a message is not said before it is complete. */
  constructor (socket: WebSocket, bytes: Readable | undefined, options: WebSocketLinkOptions, events: LinkEvents) {
    this.#socket = socket
    this.#options = options
    this.#events = events
    this.#heartbeat = new Heartbeat(socket, options.heartbeat, () => socket.isPaused)
    this.#unasked = new UnaskedMessages(options.maxUnasked)
    this.#decoder = new MessageDecoder(options)
    this.#shares = new PipeShares(options.maxQueue)
    this.#source = new PausableSource({ pause: () => { this.#isPaused = true }, resume: () => this.#goOn() }, socket)
    this.channel = this.#channel(undefined)
    const countPing = limitPerSecond(options.maxPings, () => {
      // The rest of the chunk is passed over.
      for (const name of ['ping', 'pong']) socket.removeAllListeners(name)
      this.#terminate(`it sent more than ${options.maxPings} pings or pongs in a second (limit maxPings)`)
    })
    const onPing = (data: Buffer): void => {
      this.#incomplete -= CONTROL_HEAD + data.length
      this.#heartbeat.beat()
      countPing()
    }
    this.#ended = new Promise(resolve => {
      socket.on('close', code => { this.#end(code); resolve() })
    })
    bytes?.on('data', (chunk: Buffer) => this.#count(chunk.length))
    socket.on('message', data => this.#receive(data))
    answerPings(socket)
    socket.on('pong', onPing)
    socket.on('ping', onPing)
    // `close` follows and ends the link.
    socket.on('error', error => {
      if ('code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
        this.#why ??= `a message of it has more than ${options.maxMessage} bytes (limit maxUpstreamMessage)`
      }
    })
    socket.resume()
  }

  channelFor (request: LinkRequest): Channel {
    this.#decoder.expect(request)
    return this.#channel(request.id, request.caller)
  }

  setRevision (): void {}

  async close (): Promise<void> {
    // Nothing is expected any more; what still comes before the close frame is not read slowly, either.
    this.#socket.removeAllListeners('message')
    this.#waiting.length = 0
    this.#unasked.stop()
    this.#socket.close(1000)
    await withTimeout(this.#ended, CLOSE_TIMEOUT, () => this.#socket.terminate())
    await this.#ended
  }

  #channel (id: Id | undefined, caller?: string): Channel {
    return {
      streams: true,
      respond: text => this.#send(text, undefined),
      emit: (text, method) => this.#send(text, method === 'notifications/cancelled' ? undefined : id, caller),
      end: () => {}
    }
  }

  #send (text: string, id: Id | undefined, caller?: string): void {
    const { bufferedAmount } = this.#socket
    const fits =
      bufferedAmount === 0 ||
      (bufferedAmount + text.length <= this.#options.maxQueue &&
        (id === undefined || this.#shares.enter(caller, text.length, bufferedAmount)))
    if (fits) return this.#socket.send(text, () => {})
    // An answer or a cancellation that is lost would leave the server waiting.
    if (id === undefined) return this.#terminate(UNREAD)
    this.#events.failed(id, new Error(`${UNREAD}, and too much waits already; try again later`))
  }

  #terminate (why: string): void {
    this.#why ??= why
    this.#socket.terminate()
  }

  #count (bytes: number): void {
    this.#incomplete += bytes
    if (this.#incoming === undefined && !isLarge(this.#incomplete)) return
    this.#incoming ??= new IncomingReply(this.#options.replies, this, this.#source)
    this.#incoming.update(this.#incomplete)
  }

  #receive (data: RawData): void {
    this.#incomplete = 0
    this.#heartbeat.beat()
    if (this.#isPaused) this.#waiting.push(toBuffer(data))
    else this.#report(toBuffer(data))
  }

  #report (message: Buffer): void {
    reportMessages(message, this.#decoder, this.#events, this.#unasked, this.#source)
  }

  #goOn (): void {
    this.#isPaused = false
    let passed = 0
    for (const message of this.#waiting) {
      if (this.#isPaused) break
      passed++
      this.#report(message)
    }
    this.#waiting.splice(0, passed)
  }

  #end (code: number): void {
    this.#heartbeat.stop()
    // Messages that came before the end count.
    while (this.#waiting.length > 0) this.#goOn()
    this.#unasked.stop()
    this.#incoming?.update(0)
    this.#events.closed(new Error(this.#why ?? describeClose(code)))
  }
}

function toBuffer (data: RawData): Buffer {
  return Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
