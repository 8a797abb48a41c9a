import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { END_OF_CHUNKS, readReply, statusOf } from './http-reply.js'
import { LEGACY, type Era, type Message } from './messages.js'
import { exchange, noListeners, type Wire } from './wire.js'

/** A kept-alive connection with one request at a time, so that where a reply ends all that was read ends. */
export class HttpWire implements Wire {
  session: string | undefined
  onAnswer = noListeners.onAnswer
  onRead = noListeners.onRead
  onCut = noListeners.onCut
  readonly #port: number
  readonly #era: Era
  readonly #path: string
  readonly #isPlain: boolean
  readonly #socket: Socket
  #parts: Buffer[] = []
  #read = 0
  /** Bytes of the whole reply; 0 as long as the head is not here, Infinity when it comes in chunks. */
  #length = 0
  #body = 0
  /** The id of the request that is answered next, which plain HTTP does not repeat. */
  #id: number | undefined

  private constructor (port: number, era: Era, path: string, isPlain: boolean) {
    this.#port = port
    this.#era = era
    this.#path = path
    this.#isPlain = isPlain
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.onCut(new Error('the server closed an HTTP connection')))
  }

  /** With `isPlain` the arguments of a tool are the body, below that path, and its value is the reply. */
  static async open (port: number, era: Era, path = '/mcp', isPlain = false): Promise<HttpWire> {
    const wire = new HttpWire(port, era, path, isPlain)
    await once(wire.#socket, 'connect')
    return wire
  }

  frame (message: Message): Buffer {
    if (this.#isPlain) return this.#plainFrame(message)
    const body = Buffer.from(JSON.stringify(message))
    const { method, params: { name } = {} } = message
    const modern = {
      'MCP-Protocol-Version': this.#era,
      'Mcp-Method': method,
      ...(typeof name === 'string' ? { 'Mcp-Name': name } : {})
    }
    const legacy =
      method === 'initialize'
        ? {}
        : {
            'MCP-Protocol-Version': this.#era,
            ...(this.session === undefined ? {} : { 'Mcp-Session-Id': this.session })
          }
    return Buffer.concat([
      this.#head('POST', {
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
        ...(this.#era === LEGACY ? legacy : modern)
      }),
      body
    ])
  }

  #plainFrame ({ id, params: { name, arguments: args } = {} }: Message): Buffer {
    this.#id = id
    const body = Buffer.from(JSON.stringify(args))
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
    return Buffer.concat([this.#head('POST', headers, `${this.#path}/${String(name)}`), body])
  }

  /** The request that ends a session. */
  farewell (session: string): Buffer {
    return this.#head('DELETE', { 'MCP-Protocol-Version': this.#era, 'Mcp-Session-Id': session })
  }

  write (bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  async notify (message: Message): Promise<void> {
    await exchange(this, this.frame(message))
  }

  /** Opens the stream of a session; done when its head is here. It cannot be used for anything else afterwards. */
  async listen (session: string): Promise<void> {
    this.#socket.removeAllListeners('data')
    this.write(
      this.#head('GET', { Accept: 'text/event-stream', 'MCP-Protocol-Version': this.#era, 'Mcp-Session-Id': session })
    )
    const [chunk] = await once(this.#socket, 'data') as [Buffer]
    if (statusOf(chunk) !== 200) throw new Error(`no stream: ${chunk.toString('latin1', 0, 300)}`)
    this.#socket.on('data', () => {})
  }

  close (): void {
    this.onCut = noListeners.onCut
    this.#socket.destroy()
  }

  #head (method: string, headers: Record<string, string>, path = this.#path): Buffer {
    const accept = this.#isPlain ? 'application/json' : 'application/json, text/event-stream'
    const all = { Host: `127.0.0.1:${this.#port}`, Accept: accept, ...headers }
    return Buffer.from(
      `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
      'latin1'
    )
  }

  #take (chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#read += chunk.length
    if (this.#length === 0) this.#measure()
    if (!this.#isComplete()) return
    const [reply, read, chunked, body] = [this.#parts, this.#read, this.#length === Infinity, this.#body]
    this.#parts = []
    this.#read = this.#length = 0
    this.onAnswer(read, () => {
      const { session, text } = readReply(Buffer.concat(reply), body, chunked)
      this.session ??= session
      return this.#isPlain ? `{"jsonrpc":"2.0","id":${String(this.#id)},"result":${text}}` : text
    })
    this.onRead()
  }

  #isComplete (): boolean {
    if (this.#length !== Infinity) return this.#length > 0 && this.#read >= this.#length
    return Buffer.concat(this.#parts.slice(-2)).subarray(-END_OF_CHUNKS.length).equals(END_OF_CHUNKS)
  }

  #measure (): void {
    const start = this.#parts.length === 1 ? this.#parts[0] as Buffer : Buffer.concat(this.#parts)
    const end = start.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = start.toString('latin1', 0, end)
    this.#body = end + 4
    this.#length = /\r\ntransfer-encoding: *chunked/i.test(head)
      ? Infinity
      : this.#body + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  }
}
