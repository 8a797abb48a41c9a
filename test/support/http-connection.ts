import { connect, type Socket } from 'node:net'
import { EventParser, type ServerEvent } from './event-reader.js'
import { request as bytesOf } from './http-client.js'
import { ReplyParser, type Reply } from './reply-parser.js'

/** Reads one reply. */
export interface Reader {
  /** A JSON body, or the data of an event. */
  message: (text: string) => void
  /** The reply is complete. */
  end: (status: number, headers: Reply['headers']) => void
  /** The connection ended before the reply was complete. */
  cut: () => void
  /** The head of the reply is here. */
  head?: (status: number, headers: Reply['headers']) => void
  /** An event of a stream, before its data; also one without data. */
  event?: (event: ServerEvent) => void
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** One kept-alive connection. Requests wait for the end of those before them. */
export class HttpConnection {
  readonly socket: Socket
  readonly #host: string
  readonly #waiting: Array<{ bytes: Buffer, reader: Reader }> = []
  #reader: Reader | undefined
  #parser = new ReplyParser()

  constructor (port: number) {
    this.#host = `127.0.0.1:${port}`
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.on('error', () => {})
    this.socket.on('data', chunk => this.#read(chunk))
    this.socket.once('close', () => this.#cut())
  }

  /** Settles when it is connected, or will never be. */
  async connected (): Promise<this> {
    if (this.socket.connecting) {
      await new Promise<void>(resolve => {
        this.socket.once('connect', resolve).once('close', resolve)
      })
    }
    return this
  }

  get closed (): boolean {
    return this.socket.destroyed
  }

  request (request: HttpRequest, reader: Reader): void {
    const bytes = format(request, this.#host)
    if (this.closed) reader.cut()
    else if (this.#reader !== undefined) this.#waiting.push({ bytes, reader })
    else this.#send(bytes, reader)
  }

  /** Sends a request and waits for its reply, which is not a stream. */
  async exchange (request: HttpRequest): Promise<Pick<Reply, 'status' | 'headers' | 'body'>> {
    return await new Promise((resolve, reject) => {
      let body = ''
      this.request(request, {
        message: text => { body = text },
        end: (status, headers) => resolve({ status, headers, body }),
        cut: () => reject(new Error(`the connection ended before ${request.method} ${request.path} was answered`))
      })
    })
  }

  #send (bytes: Buffer, reader: Reader): void {
    this.#reader = reader
    this.#parser = parserFor(reader)
    this.socket.write(bytes)
  }

  #read (chunk: Buffer): void {
    const reader = this.#reader
    this.#parser.push(chunk)
    if (reader === undefined || !this.#parser.done) return
    const { status, headers } = this.#parser.reply
    const next = this.#waiting.shift()
    this.#reader = undefined
    if (next !== undefined) this.#send(next.bytes, next.reader)
    reader.end(status, headers)
  }

  #cut (): void {
    const left = this.#reader === undefined ? this.#waiting : [{ reader: this.#reader }, ...this.#waiting]
    this.#reader = undefined
    for (const { reader } of left) reader.cut()
    this.#waiting.length = 0
  }
}

/** Calls a tool on a connection of its own, and gives the text of the answer. */
export async function callOnce (port: number, name: string, args: object): Promise<string> {
  const connection = new HttpConnection(port)
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
    const reply = await connection.exchange({ method: 'POST', path: '/message', body })
    const { result } = JSON.parse(reply.body) as { result?: { content: Array<{ text: string }>, isError?: boolean } }
    if (result === undefined || result.isError === true) throw new Error(`${name} failed: ${reply.body}`)
    return result.content[0]?.text ?? ''
  } finally {
    connection.socket.destroy()
  }
}

function parserFor (reader: Reader): ReplyParser {
  let events: EventParser | undefined
  return new ReplyParser({
    // A stream may last as long as the test.
    keepsBody: false,
    onHead: ({ status, headers }) => {
      if (headers.get('content-type')?.startsWith('text/event-stream') === true) events = new EventParser()
      reader.head?.(status, headers)
    },
    onBody: part => {
      if (events === undefined) reader.message(part.toString())
      else for (const event of events.push(part)) receive(event, reader)
      return false
    }
  })
}

function receive (event: ServerEvent, reader: Reader): void {
  const { data = '' } = event
  reader.event?.(event)
  if (data !== '') reader.message(data)
}

function format ({ method, path, headers = {}, body }: HttpRequest, host: string): Buffer {
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
  return bytesOf(
    method,
    path,
    Object.entries({ Host: host, Accept: 'application/json, text/event-stream', ...type, ...headers }),
    body
  )
}
