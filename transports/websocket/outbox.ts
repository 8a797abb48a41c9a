import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WebSocket } from '@fastify/websocket'
import type { Backlog } from '../../lib/backlog.js'
import { Cohort, WHEN_SETTLED } from '../../lib/turn-batch.js'

const TEXT_FRAME = 0x81
const [SHORT, LONG] = [126, 127]
/** How many characters are gathered at most. */
const LARGE = 1024 * 1024

/** Everything that is said on one socket in one go leaves in one write. */
export class Outbox {
  readonly #socket: WebSocket
  readonly #output: Duplex | undefined
  readonly #backlog: Backlog
  #texts: string[] = []
  #size = 0
  #answersOnly = true

  /** `output` is what the socket writes to. */
  constructor (socket: WebSocket, output: Duplex | undefined, backlog: Backlog) {
    this.#socket = socket
    this.#output = output
    this.#backlog = backlog
  }

  put (text: string, answer: boolean): void {
    this.#answersOnly &&= answer
    this.#size += text.length
    if (this.#texts.push(text) === 1) full.add(this)
    if (this.#size > LARGE) this.send()
  }

  send (): void {
    const texts = this.#texts
    const answersOnly = this.#answersOnly
    this.#texts = []
    this.#size = 0
    this.#answersOnly = true
    if (texts.length > 0 && this.#socket.readyState === this.#socket.OPEN) this.#backlog.recordWrite(this.#write(texts), answersOnly)
  }

  // Messages of ours are neither masked nor compressed nor in parts, so that ws has nothing to do for them but to make a frame, and it
  // makes two buffers and two writes of each.
  #write (texts: string[]): number {
    const frames = textFrames(texts)
    if (this.#output instanceof Socket) this.#output.write(frames)
    else for (const text of texts) this.#socket.send(text)
    return frames.length
  }
}

const full = new Cohort<Outbox>(outbox => outbox.send(), WHEN_SETTLED)

/** One text frame for each. */
export function textFrames (texts: string[]): Buffer {
  const sizes = texts.map(text => Buffer.byteLength(text))
  const frames = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + headSize(size) + size, 0))
  let at = 0
  for (const [index, text] of texts.entries()) {
    const size = sizes[index] as number
    at = writeHead(frames, at, size)
    frames.write(text, at)
    at += size
  }
  return frames
}

const headSize = (size: number): number => size < SHORT ? 2 : size < 65_536 ? 4 : 10

function writeHead (frames: Buffer, at: number, size: number): number {
  frames[at] = TEXT_FRAME
  if (size < SHORT) {
    frames[at + 1] = size
    return at + 2
  }
  if (size < 65_536) {
    frames[at + 1] = SHORT
    return frames.writeUInt16BE(size, at + 2)
  }
  frames[at + 1] = LONG
  return frames.writeBigUInt64BE(BigInt(size), at + 2)
}
