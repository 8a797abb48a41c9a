import type { Socket } from 'node:net'
import { connected, hangUp } from './sockets.js'
import { Wait } from './waiting.js'

export interface Reply {
  /** 0 when the connection ended without a word. */
  status: number
  headers: Map<string, string>
  body: string
  /** False when it broke off, or was left. */
  whole: boolean
}

export interface Exchange {
  /** No body follows, whatever the headers say. */
  bodiless?: boolean
  /** True when nothing is sent after this. */
  last?: boolean
  cut?: Buffer[]
  /** Takes the data of an event as it comes, and the id where it has one; true when enough was heard. */
  onEvent?: OnEvent
}

type OnEvent = (data: string, id: string | undefined) => boolean

/** One connection to a server, for one request after the other. */
export class HttpLine {
  readonly #port: number
  #socket: Socket | undefined

  constructor (port: number) {
    this.#port = port
  }

  /** Sends bytes and reads one reply; undefined when none comes in time. */
  async exchange (pieces: Buffer[], { bodiless = false, last = false, onEvent = () => false }: Exchange = {}): Promise<Reply | undefined> {
    const socket = await this.#open()
    const reader = new ReplyReader(bodiless, onEvent)
    const wait = new Wait(() => reader.done)
    const data = (chunk: Buffer) => { reader.push(chunk); wait.look() }
    const close = () => { reader.end(); wait.look() }
    socket.on('data', data).once('close', close)
    for (const piece of pieces) socket.write(piece)
    if (last) socket.end()
    const came = await wait.promise
    socket.off('data', data).off('close', close)
    if (last || !reader.reusable) this.close()
    return came ? reader.reply : undefined
  }

  close (): void {
    if (this.#socket !== undefined) hangUp(this.#socket)
    this.#socket = undefined
  }

  async #open (): Promise<Socket> {
    if (this.#socket?.writable === true) return this.#socket
    this.close()
    this.#socket = await connected(this.#port)
    return this.#socket
  }
}

/** One reply that is read until it ends or is left: an event stream, most often. */
export class StreamLine {
  readonly #socket: Socket
  readonly #reader: ReplyReader

  constructor (socket: Socket, onEvent: (data: string, id: string | undefined) => void) {
    this.#socket = socket
    this.#reader = new ReplyReader(false, (data, id) => {
      onEvent(data, id)
      return false
    })
  }

  /** Settles when the head of the reply is there, the connection has ended, or the time is up. */
  static async open (port: number, request: Buffer, onEvent: (data: string, id: string | undefined) => void): Promise<StreamLine> {
    const line = new StreamLine(await connected(port), onEvent)
    await line.#begin(request)
    return line
  }

  /** Its `status` is 0 when there was none. */
  get reply (): Reply {
    return this.#reader.reply
  }

  get streams (): boolean {
    return this.reply.headers.get('content-type')?.startsWith('text/event-stream') === true
  }

  close (): void {
    hangUp(this.#socket)
  }

  async #begin (request: Buffer): Promise<void> {
    const wait = new Wait(() => this.#reader.done || this.streams)
    this.#socket.on('data', chunk => { this.#reader.push(chunk); wait.look() })
    this.#socket.once('close', () => { this.#reader.end(); wait.look() })
    this.#socket.write(request)
    await wait.promise
  }
}

class ReplyReader {
  done = false
  readonly #bodiless: boolean
  readonly #onEvent: OnEvent
  #unread = Buffer.alloc(0)
  #head: Pick<Reply, 'status' | 'headers'> | undefined
  #body = ''
  #told = 0
  #whole = false

  constructor (bodiless: boolean, onEvent: OnEvent) {
    this.#bodiless = bodiless
    this.#onEvent = onEvent
  }

  get reply (): Reply {
    return { ...(this.#head ?? { status: 0, headers: new Map() }), body: this.#body, whole: this.#whole }
  }

  get reusable (): boolean {
    return this.#whole && this.#unread.length === 0 && this.reply.headers.get('connection') !== 'close' && this.reply.status !== 101
  }

  push (chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk])
    if (this.#head === undefined) this.#readHead()
    if (this.#head !== undefined && !this.done) this.#readBody()
  }

  end (): void {
    this.done = true
  }

  #readHead (): void {
    const end = this.#unread.indexOf('\r\n\r\n')
    if (end === -1) return
    const [first = '', ...lines] = this.#unread.toString('latin1', 0, end).split('\r\n')
    this.#unread = this.#unread.subarray(end + 4)
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? -1)
    if (status === 100) return this.#readHead()
    this.#head = { status, headers: new Map(lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])) }
  }

  #readBody (): void {
    const { status, headers } = this.#head as Reply
    if (this.#bodiless || status === 101 || status === 204) return this.#finish()
    if (headers.get('transfer-encoding') === 'chunked') return this.#readChunks()
    const length = Number(headers.get('content-length') ?? 0)
    if (this.#unread.length < length) return
    this.#body = this.#unread.toString('utf8', 0, length)
    this.#unread = this.#unread.subarray(length)
    this.#finish()
  }

  #readChunks (): void {
    for (let line = this.#unread.indexOf('\r\n'); line !== -1; line = this.#unread.indexOf('\r\n')) {
      const size = parseInt(this.#unread.toString('latin1', 0, line), 16)
      if (this.#unread.length < line + 2 + size + 2) return
      this.#body += this.#unread.toString('utf8', line + 2, line + 2 + size)
      this.#unread = this.#unread.subarray(line + 2 + size + 2)
      if (size === 0) return this.#finish()
      if (this.#tell()) {
        this.done = true
        return
      }
    }
  }

  /** Hands over the events that are whole by now. */
  #tell (): boolean {
    const end = this.#body.lastIndexOf('\n\n') + 2
    if (end <= this.#told + 1) return false
    const blocks = this.#body.slice(this.#told, end).split('\n\n').filter(block => block !== '')
    this.#told = end
    return blocks.map(block => this.#onEvent(eventsIn(block).join('\n'), /^id: (.*)$/m.exec(block)?.[1])).includes(true)
  }

  #finish (): void {
    this.#whole = true
    this.done = true
  }
}

/** The data of the events in a text. */
export function eventsIn (text: string): string[] {
  return text.split('\n').filter(line => line.startsWith('data: ')).map(line => line.slice(6)).filter(data => data !== '')
}
