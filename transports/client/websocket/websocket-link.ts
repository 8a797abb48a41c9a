import type { RawData, WebSocket } from 'ws'
import { withTimeout } from '../../../lib/time/with-timeout.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import type { Id } from '../../../protocol/wire/jsonrpc.js'
import { Heartbeat } from '../../websocket/heartbeat.js'
import type { Link, LinkEvents, LinkRequest, LinkLimits } from '../link.js'
import { reportMessages } from '../report-messages.js'
import { UnaskedMessages } from '../unasked-messages.js'
import { describeClose } from './close-words.js'

export interface WebSocketLinkOptions extends LinkLimits {
  /** The most bytes that wait for a server that does not read. */
  readonly maxQueue: number
  /** The interval between pings, in milliseconds. */
  readonly heartbeat: number
}

/** How long the server has to answer a close frame, in milliseconds. */
const CLOSE_TIMEOUT = 2_000

/** A link over an open, paused WebSocket: one message a frame. */
export class WebSocketLink implements Link {
  readonly transport = 'websocket'
  readonly channel: Channel
  readonly #socket: WebSocket
  readonly #options: WebSocketLinkOptions
  readonly #events: LinkEvents
  readonly #heartbeat: Heartbeat
  readonly #unasked: UnaskedMessages
  readonly #ended: Promise<void>
  #tooLong = false

  constructor (socket: WebSocket, options: WebSocketLinkOptions, events: LinkEvents) {
    this.#socket = socket
    this.#options = options
    this.#events = events
    this.#heartbeat = new Heartbeat(socket, options.heartbeat, () => socket.isPaused)
    this.#unasked = new UnaskedMessages(options.maxUnasked)
    this.channel = this.#channel(undefined)
    this.#ended = new Promise(resolve => {
      socket.on('close', code => { this.#end(code); resolve() })
    })
    socket.on('message', data => this.#receive(data))
    socket.on('pong', () => this.#heartbeat.beat())
    socket.on('ping', () => this.#heartbeat.beat())
    // `close` follows and ends the link.
    socket.on('error', error => { this.#tooLong ||= 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' })
    socket.resume()
  }

  channelFor ({ id }: LinkRequest): Channel {
    this.#unasked.expect()
    return this.#channel(id)
  }

  setRevision (): void {}

  async close (): Promise<void> {
    // Nothing is expected any more; what still comes before the close frame is not read slowly, either.
    this.#socket.removeAllListeners('message')
    this.#unasked.stop()
    this.#socket.close(1000)
    await withTimeout(this.#ended, CLOSE_TIMEOUT, () => this.#socket.terminate())
    await this.#ended
  }

  #channel (id: Id | undefined): Channel {
    return { streams: true, respond: text => this.#send(text, undefined), emit: (text, method) => this.#send(text, method === 'notifications/cancelled' ? undefined : id), end: () => {} }
  }

  #send (text: string, id: Id | undefined): void {
    const { bufferedAmount } = this.#socket
    if (bufferedAmount === 0 || bufferedAmount + text.length <= this.#options.maxQueue) return this.#socket.send(text, () => {})
    if (id !== undefined) this.#events.failed(id, new Error('it does not read what is sent to it, and too much waits already; try again later'))
    // An answer or a cancellation that is lost would leave the server waiting.
    else this.#socket.terminate()
  }

  #receive (data: RawData): void {
    this.#heartbeat.beat()
    reportMessages(toBuffer(data), this.#options, this.#events, this.#unasked, this.#socket)
  }

  #end (code: number): void {
    this.#heartbeat.stop()
    this.#unasked.stop()
    this.#events.closed(new Error(this.#tooLong ? `a message of it has more than ${this.#options.maxMessage} bytes (option maxUpstreamMessage)` : describeClose(code)))
  }
}

function toBuffer (data: RawData): Buffer {
  return Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
