import type { Duplex } from 'node:stream'
import type { WebSocket } from '@fastify/websocket'
import { Backlog } from '../../lib/backlog.js'
import { onImmediate, TurnBatch } from '../../lib/turn-batch.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { Peer } from '../../protocol/peer/peer.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Narrowing } from '../../protocol/wire/narrowing.js'
import { hasExpired, type Identity } from '../../protocol/wire/identity.js'
import { CLOSE, type Close } from './close-codes.js'
import { Inbox } from './inbox.js'
import { Outbox } from './outbox.js'

/** A client that has connected. `rawSocket` carries the frames of `socket`; absent where requests are injected. */
export interface WebSocketClient {
  socket: WebSocket
  rawSocket: Duplex | undefined
  identity: Identity
  address?: string | undefined
  proxied: boolean
  view?: string | undefined
  narrowing?: Narrowing | undefined
}

export interface QueueLimits { maxQueue: number, writeDeadline: number }

/** For how many milliseconds a client that does not read may take to read the close frame. */
const CLOSE_FRAME_DEADLINE = 500

/** One socket and its peer. A text frame is a whole message, so there is nothing to reassemble. */
export class WebSocketConnection implements Channel {
  readonly streams = true
  readonly proxied: boolean
  readonly address: string | undefined
  readonly narrowing: Narrowing | undefined
  readonly #mcp: Dispatcher
  readonly #socket: WebSocket
  readonly #identity: Identity
  readonly #peer: Peer
  readonly #backlog: Backlog
  readonly #outbox: Outbox
  readonly #inbox: Inbox<Buffer>
  #closing = false

  constructor (
    mcp: Dispatcher,
    { socket, rawSocket, identity, address, proxied, view, narrowing }: WebSocketClient,
    { maxQueue, writeDeadline }: QueueLimits
  ) {
    this.address = address
    this.proxied = proxied
    this.narrowing = narrowing
    this.#mcp = mcp
    this.#socket = socket
    this.#identity = identity
    this.#backlog = new Backlog({
      size: () => socket.bufferedAmount,
      max: maxQueue,
      deadline: writeDeadline,
      cut: () => this.#cut(),
      shared: mcp.backlogs
    })
    this.#outbox = new Outbox(socket, rawSocket, this.#backlog)
    this.#inbox = new Inbox<Buffer>({
      handle: data => incoming.add({ connection: this, data }),
      isFull: () => socket.bufferedAmount > maxQueue,
      pause: () => socket.pause(),
      resume: () => socket.resume()
    })
    this.#peer = new Peer({ transport: 'websocket', channel: this, identity, view })
    mcp.lifecycle.connect(this.#peer)
  }

  /** True while messages wait until the client has read, so that nothing is read from it. */
  get isPaused (): boolean {
    return this.#inbox.hasWaiting
  }

  respond (text: string): void {
    this.#outbox.put(text, true)
  }

  emit (text: string): void {
    this.#outbox.put(text, false)
  }

  unwritten (): number {
    return this.#backlog.size
  }

  end (): void {}

  /** Takes one frame. */
  push (data: Buffer, isBinary: boolean): void {
    // Frames that were under way when we sent the close frame.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#peer.closed || hasExpired(this.#identity)) this.close(CLOSE.expired)
    else if (isBinary) this.close(CLOSE.notText)
    else this.#inbox.push(data)
  }

  /** Handles one message, unless we are closing. Messages that came before the client's own close frame are handled. */
  handle (data: Buffer): void {
    if (!this.#closing) this.#mcp.receive(this.#mcp.decode(data), this.#peer, this)
  }

  /** Closes the socket after the responses that can be given at once. */
  close ({ code, reason }: Close): void {
    incoming.flush()
    this.#outbox.send()
    this.#closing = true
    this.#socket.close(code, reason)
  }

  /**
   * Closes the socket and reads nothing more. ws destroys it after its close timeout, whether or not the client
   * answers.
   */
  refuse (close: Close): void {
    this.close(close)
    this.#socket.pause()
  }

  /** The socket is closed: ends the peer and every timer. */
  dispose (): void {
    this.#inbox.stop()
    this.#backlog.stop()
    this.#mcp.lifecycle.disconnect(this.#peer, new Error('the socket was closed'))
  }

  // The close frame is queued behind what the client does not read.
  #cut (): void {
    this.#closing = true
    this.#socket.close(CLOSE.notReading.code, CLOSE.notReading.reason)
    setTimeout(() => this.#socket.terminate(), CLOSE_FRAME_DEADLINE).unref()
  }
}

/** The messages of one turn of the event loop, from all sockets. */
const incoming = new TurnBatch<Received>(({ connection, data }) => connection.handle(data), onImmediate)

interface Received { connection: WebSocketConnection, data: Buffer }
