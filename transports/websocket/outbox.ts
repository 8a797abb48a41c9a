import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from '@fastify/websocket'
import type { Backlog } from '../../lib/backlog.js'
import { TurnBatch, onMicrotask } from '../../lib/turn-batch.js'
import { textFrames } from './text-frames.js'

/** The most characters in one write. */
const MAX_BATCH = 1024 * 1024

/** Messages to one socket that are ready in the same microtask run leave in one write. */
export class Outbox {
  readonly #socket: WebSocket
  readonly #rawSocket: Duplex | undefined
  readonly #backlog: Backlog
  #texts: string[] = []
  #size = 0
  #responsesOnly = true

  /** `rawSocket` is the stream that the WebSocket writes to. */
  constructor (socket: WebSocket, rawSocket: Duplex | undefined, backlog: Backlog) {
    this.#socket = socket
    this.#rawSocket = rawSocket
    this.#backlog = backlog
  }

  put (text: string, response: boolean): void {
    this.#responsesOnly &&= response
    this.#size += text.length
    if (this.#texts.push(text) === 1) dirtyOutboxes.add(this)
    if (this.#size > MAX_BATCH) this.send()
  }

  send (): void {
    const texts = this.#texts
    const responsesOnly = this.#responsesOnly
    this.#texts = []
    this.#size = 0
    this.#responsesOnly = true
    if (texts.length > 0 && this.#socket.readyState === this.#socket.OPEN) {
      this.#backlog.recordWrite(this.#write(texts), responsesOnly)
    }
  }

  // ws makes two buffers and two writes of each message. WebSocket tools/call with ws.send, corked: 0.93 [0.92..0.94].
  #write (texts: string[]): number {
    const frames = textFrames(texts)
    if (this.#rawSocket instanceof Socket) this.#rawSocket.write(frames)
    else for (const text of texts) this.#socket.send(text)
    return frames.length
  }
}

const dirtyOutboxes = new TurnBatch<Outbox>(outbox => outbox.send(), onMicrotask)
