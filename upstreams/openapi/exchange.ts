import type { IncomingHttpHeaders } from 'node:http'
import type { Transform } from 'node:stream'
import { Chunks } from '../../lib/chunks.js'
import type { HttpClient } from '../../transports/client/http/http-client.js'
import type { HttpExchange, HttpRequest, ReplyReceiver } from '../../transports/client/http/http-exchange.js'
import { IncomingReply, isLarge, type ReplyBudget } from '../../transports/client/reply-budget.js'
import { decompressor, isPlain } from './reply/decompress.js'

/** A reply that is complete. */
export interface ApiReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The path and query that it came from in the end. */
  readonly path: string
}

export interface ExchangeLimits {
  /** The longest body, in bytes. */
  readonly maxBody: number
  /** The name of that limit. */
  readonly limit: string
  readonly replies: ReplyBudget
}

/** So many bytes of an error are read. */
const MAX_ERROR = 65_536

/** One HTTP request to an API, and its reply, which is decompressed where it comes compressed. */
export class ApiExchange implements ReplyReceiver {
  readonly reply: Promise<ApiReply>
  readonly #limits: ExchangeLimits
  readonly #caller: string | undefined
  readonly #hasBody: boolean
  #resolve: (reply: ApiReply) => void = () => {}
  #reject: (why: Error) => void = () => {}
  #exchange: HttpExchange | undefined
  #incoming: IncomingReply | undefined
  #head: Omit<ApiReply, 'body'> = { status: 0, headers: {}, path: '' }
  readonly #body = new Chunks()
  /** The bytes that came, before they are decompressed. */
  #received = 0
  #decompressor: Transform | undefined

  /** `caller` is the one whose call it serves. */
  constructor (client: HttpClient, request: HttpRequest, limits: ExchangeLimits, caller: string | undefined) {
    this.#limits = limits
    this.#caller = caller
    this.#hasBody = request.method !== 'HEAD'
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#exchange = client.call(request, this, caller)
    if (this.#exchange === undefined) this.#reject(new Error('too much waits to be sent to it already; try again later'))
  }

  /** Ends it; the reply rejects with the reason. */
  abort (why: Error): void {
    this.#release()
    this.#reject(why)
  }

  onHead (status: number, headers: IncomingHttpHeaders, path: string): void {
    this.#head = { status, headers, path }
    const isTooLong = Number(headers['content-length']) > this.#limits.maxBody
    if (isTooLong && status < 400 && this.#hasBody) this.#failTooLong()
  }

  onData (chunk: Buffer): void {
    const encoding = this.#head.headers['content-encoding']
    if (encoding === undefined || isPlain(encoding)) return this.#add(chunk)
    this.#received += chunk.length
    if (this.#received > this.#limits.maxBody) return this.#failTooLong()
    this.#decompressor ??= this.#decompress(encoding, chunk)
    if (this.#decompressor?.write(chunk) === false) this.#exchange?.pause()
  }

  onEnd (): void {
    if (this.#decompressor === undefined) this.#finish()
    else this.#decompressor.end()
  }

  onError (error: Error): void {
    this.abort(error)
  }

  #add (chunk: Buffer): void {
    if (this.#head.status >= 400 && this.#body.size > MAX_ERROR) return this.#finish()
    if (this.#body.size + chunk.length > this.#limits.maxBody) return this.#failTooLong()
    this.#body.add(chunk)
    if (this.#incoming === undefined && !isLarge(this.#body.size)) return
    const source = this.#decompressor ?? this.#exchange
    if (source === undefined) return
    this.#incoming ??= new IncomingReply(this.#limits.replies, this.#caller ?? this, source)
    this.#incoming.update(this.#body.size)
  }

  #decompress (encoding: string, first: Buffer): Transform | undefined {
    const made = decompressor(encoding, first)
    if (made === undefined) {
      this.abort(new Error(`its answer is compressed in a way that is not known (${encoding.slice(0, 40)}), which was not asked for`))
      return undefined
    }
    made.on('drain', () => this.#exchange?.resume())
    made.on('data', (piece: Buffer) => this.#add(piece))
    made.on('end', () => this.#finish())
    made.on('error', () => this.abort(new Error(`its answer is not what it says: it cannot be decompressed (${encoding.slice(0, 40)})`)))
    return made
  }

  #finish (): void {
    this.#release()
    const { status, headers, path } = this.#head
    this.#resolve({ status, headers, path, body: this.#body.take() })
  }

  #release (): void {
    this.#exchange?.abort()
    this.#incoming?.update(0)
    this.#decompressor?.destroy()
  }

  #failTooLong (): void {
    this.abort(new Error(`its answer has more than ${this.#limits.maxBody} bytes (limit ${this.#limits.limit})`))
  }
}
