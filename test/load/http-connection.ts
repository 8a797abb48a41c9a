import { connect, type Socket } from 'node:net'
import { EventLines } from './event-lines.js'

/** Hears one reply. */
export interface Reader {
  /** A JSON body, or the data of an event. */
  message: (text: string) => void
  /** The reply is complete. */
  end: (status: number, head: string) => void
  /** The connection ended before the reply was complete. */
  cut: () => void
  /** The head of the reply is here. */
  head?: (status: number, head: string) => void
}

export interface HttpRequest { method: 'GET' | 'POST' | 'DELETE', path: string, headers?: Record<string, string>, body?: string }

/** One kept-alive connection with as little between us and the socket as possible. Requests wait for those before them. */
export class HttpConnection {
  readonly socket: Socket
  readonly #host: string
  readonly #waiting: Array<{ text: string, reader: Reader }> = []
  #reader: Reader | undefined
  #text = ''
  #state: 'head' | 'body' | 'size' | 'chunk' | 'last' = 'head'
  #missing = 0
  #status = 0
  #head = ''
  #events: EventLines | undefined

  constructor (port: number) {
    this.#host = `127.0.0.1:${port}`
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    this.socket.on('error', () => {})
    this.socket.on('data', (text: string) => this.#read(text))
    this.socket.once('close', () => this.#cut())
  }

  /** Settles when it is connected, or will never be. */
  async connected (): Promise<this> {
    if (this.socket.connecting) await new Promise<void>(resolve => { this.socket.once('connect', resolve).once('close', resolve) })
    return this
  }

  get closed (): boolean {
    return this.socket.destroyed
  }

  request (request: HttpRequest, reader: Reader): void {
    const text = format(request, this.#host)
    if (this.closed) reader.cut()
    else if (this.#reader !== undefined) this.#waiting.push({ text, reader })
    else this.#send(text, reader)
  }

  /** The same for one reply that is not a stream. */
  async exchange (request: HttpRequest): Promise<{ status: number, head: string, body: string }> {
    return await new Promise((resolve, reject) => {
      let body = ''
      this.request(request, {
        message: text => { body = text },
        end: (status, head) => resolve({ status, head, body }),
        cut: () => reject(new Error(`the connection ended before ${request.method} ${request.path} was answered`))
      })
    })
  }

  #send (text: string, reader: Reader): void {
    this.#reader = reader
    this.socket.write(text, 'latin1')
  }

  #read (text: string): void {
    this.#text += text
    while (this.#step()) { /* until something is missing */ }
  }

  #step (): boolean {
    if (this.#state === 'head') return this.#readHead()
    if (this.#state === 'size') return this.#readSize()
    const tail = this.#state === 'body' ? 0 : 2
    if (this.#text.length < this.#missing + tail) return false
    const part = this.#text.slice(0, this.#missing)
    this.#text = this.#text.slice(this.#missing + tail)
    if (part !== '') this.#take(part)
    if (this.#state === 'chunk') this.#state = 'size'
    else this.#finish()
    return true
  }

  #readHead (): boolean {
    const end = this.#text.indexOf('\r\n\r\n')
    if (end === -1) return false
    this.#head = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 4)
    this.#status = Number(this.#head.slice(9, 12))
    this.#events = /content-type: text\/event-stream/i.test(this.#head) ? new EventLines(data => this.#reader?.message(data)) : undefined
    this.#state = /transfer-encoding: chunked/i.test(this.#head) ? 'size' : 'body'
    this.#missing = Number(headerOf(this.#head, 'content-length') ?? 0)
    this.#reader?.head?.(this.#status, this.#head)
    return true
  }

  #readSize (): boolean {
    const end = this.#text.indexOf('\r\n')
    if (end === -1) return false
    this.#missing = parseInt(this.#text.slice(0, end), 16)
    this.#text = this.#text.slice(end + 2)
    this.#state = this.#missing === 0 ? 'last' : 'chunk'
    return true
  }

  #take (part: string): void {
    if (this.#events === undefined) this.#reader?.message(part)
    else this.#events.push(part)
  }

  #finish (): void {
    const reader = this.#reader
    const next = this.#waiting.shift()
    this.#state = 'head'
    this.#reader = undefined
    if (next !== undefined) this.#send(next.text, next.reader)
    reader?.end(this.#status, this.#head)
  }

  #cut (): void {
    const left = this.#reader === undefined ? this.#waiting : [{ reader: this.#reader }, ...this.#waiting]
    this.#reader = undefined
    for (const { reader } of left) reader.cut()
    this.#waiting.length = 0
  }
}

export function headerOf (head: string, name: string): string | undefined {
  return new RegExp(`\r\n${name}: ([^\r]*)`, 'i').exec(head)?.[1]
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

function format ({ method, path, headers = {}, body }: HttpRequest, host: string): string {
  const typed = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: host, Accept: 'application/json, text/event-stream', ...typed, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}
