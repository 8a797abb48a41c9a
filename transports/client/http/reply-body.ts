import type { IncomingHttpHeaders } from 'node:http'
import { Chunks } from '../../../lib/chunks.js'
import { SseReader } from '../../../lib/sse-reader.js'
import { decode, type Message } from '../../../protocol/wire/jsonrpc.js'
import type { MessageLimits } from '../../../protocol/wire/limits.js'

/** Tells by the Content-Type what the body of a reply is. */
export function bodyKind ({ 'content-type': type = '' }: IncomingHttpHeaders): 'json' | 'events' | 'other' {
  const name = /^[^;\s]*/.exec(type)?.[0].toLowerCase() ?? ''
  return name === 'application/json' ? 'json' : name === 'text/event-stream' ? 'events' : 'other'
}

/** Reads the messages in the body of a reply: one JSON text, or the events of a stream. */
export class ReplyBody {
  readonly #maxMessage: number
  readonly #limits: MessageLimits
  readonly #onMessage: (message: Message, bytes: number) => void
  readonly #onTooLong: () => void
  readonly #json: Chunks | undefined
  readonly #events: SseReader | undefined

  /** `onLine` gets the number of bytes of each line of a stream that belong to no message. */
  constructor (kind: 'json' | 'events', maxMessage: number, limits: MessageLimits, onMessage: (message: Message, bytes: number) => void, onTooLong: () => void, onLine: (bytes: number) => void) {
    this.#maxMessage = maxMessage
    this.#limits = limits
    this.#onMessage = onMessage
    this.#onTooLong = onTooLong
    if (kind === 'json') this.#json = new Chunks()
    else {
      this.#events = new SseReader(maxMessage, {
        event: ({ type, data }) => {
          if (type === 'message') this.#decode(data)
        },
        tooLong: onTooLong,
        line: onLine
      })
    }
  }

  get isStream (): boolean {
    return this.#events !== undefined
  }

  /** How many bytes are there of what is not complete. */
  get size (): number {
    return this.#json?.size ?? this.#events?.size ?? 0
  }

  get lastEventId (): string | undefined {
    return this.#events?.lastEventId
  }

  get retry (): number | undefined {
    return this.#events?.retry
  }

  push (chunk: Buffer): void {
    this.#events?.push(chunk)
    if (this.#json === undefined) return
    if (this.#json.size + chunk.length > this.#maxMessage) this.#onTooLong()
    else this.#json.add(chunk)
  }

  /** Keeps what comes in a stream until `resume`. */
  pause (): void {
    this.#events?.pause()
  }

  resume (): void {
    this.#events?.resume()
  }

  /** The body is complete. An event that is not is dropped, as the standard says. */
  end (): void {
    this.#events?.end()
    if (this.#json !== undefined) this.#decode(this.#json.take())
  }

  /** An event without data only carries an id. */
  #decode (bytes: Buffer): void {
    if (bytes.length === 0) return
    const incoming = decode(bytes, this.#limits)
    for (const message of incoming.kind === 'batch' ? incoming.messages : [incoming]) {
      this.#onMessage(message, bytes.length)
    }
  }
}
