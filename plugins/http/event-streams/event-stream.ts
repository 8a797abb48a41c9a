import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Backlog, type BacklogOptions } from '../../../lib/backlog.js'
import type { StreamEvent } from '../../../protocol/sessions/streams/sink.js'

/** The `event:` name of a message by its method, if it has one. */
export type EventName = (method: string | undefined) => string | undefined

/** Events without a name. */
export const unnamed: EventName = () => undefined

export type QueueLimits = Pick<BacklogOptions, 'max' | 'deadline' | 'shared'>

/** `onEnd` runs when nothing more will be written, `onClose` when the client has read all of it or has disconnected. */
export interface StreamCallbacks { onEnd: () => void, onClose: () => void }

/** One stream, written to the response directly: a Readable in between would double the memory of an idle client. */
export class EventStream {
  readonly named: boolean
  readonly #raw: ServerResponse
  readonly #nameOf: EventName
  readonly #max: number
  readonly #backlog: Backlog
  readonly #callbacks: StreamCallbacks
  /** Text that waits for the headers to be written; the comment makes Node.js send them at once. */
  #early: string | undefined = ': open\n\n'
  #ended = false
  #closed = false

  constructor (raw: ServerResponse, nameOf: EventName, limits: QueueLimits, callbacks: StreamCallbacks) {
    this.named = nameOf !== unnamed
    this.#raw = raw
    this.#nameOf = nameOf
    this.#max = limits.max
    this.#backlog = new Backlog({ ...limits, size: () => this.unwritten(), cut: () => this.cut() })
    this.#callbacks = callbacks
  }

  /** Sends the headers, and what was written before. */
  writeHead (status: number, headers: Record<string, string>): void {
    const early = this.#early
    if (this.#closed || early === undefined) return
    this.#early = undefined
    // A client that disconnects is not an error.
    this.#raw.on('error', ignore)
    this.#raw.writeHead(status, headers)
    this.#raw.write(early)
    if (this.#ended) this.#raw.end()
  }

  write (event: StreamEvent): void {
    if (this.#ended) return
    const text = formatEvent(event, this.#nameOf(event.method))
    this.push(text)
    this.#backlog.recordWrite(Buffer.byteLength(text), event.method === undefined || event.method === '')
  }

  /** Writes text as it is, such as a comment. */
  push (text: string): void {
    if (this.#early === undefined) this.#raw.write(text)
    else this.#early += text
  }

  end (): void {
    if (this.#ended) return
    this.#ended = true
    this.#callbacks.onEnd()
    if (this.#early === undefined) this.#raw.end()
  }

  /** Ends it and closes its socket. */
  close (): void {
    const { socket, httpVersionMajor } = this.#raw.req
    this.end()
    // A client that is no longer there would not close the socket, and Node.js would keep it as an idle one.
    if (httpVersionMajor === 1 && socket instanceof Socket && !this.#closed) {
      this.#raw.once('finish', () => socket.destroySoon())
    }
  }

  /** True while more waits to be written than the limit. */
  isFull (): boolean {
    return this.unwritten() > this.#max
  }

  /** Destroys the connection. */
  cut (): void {
    this.#raw.destroy()
    this.onDisconnected()
  }

  /**
   * The client has disconnected. The callback runs in a microtask, because this may be found out while the stream is
   * opened or written to.
   */
  onDisconnected (): void {
    if (this.#closed) return
    this.#ended = this.#closed = true
    this.#backlog.stop()
    queueMicrotask(this.#callbacks.onClose)
  }

  /** How many bytes wait to be written. */
  unwritten (): number {
    return (this.#early?.length ?? 0) + this.#raw.writableLength
  }
}

function ignore (): void {}

/** The text has to be one line, as JSON is: it is not split into several data lines. */
export function formatEvent ({ id, text, retry }: StreamEvent, name: string | undefined): string {
  return (name === undefined ? '' : `event: ${name}\n`) +
    (id === undefined ? '' : `id: ${id}\n`) +
    (retry === undefined ? '' : `retry: ${retry}\n`) +
    (id === undefined && text === '' ? '\n' : `data: ${text}\n\n`)
}
