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
  /** Takes the data of an event as it comes; true when enough was heard. */
  onEvent?: (data: string) => boolean
}

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

class ReplyReader {
  done = false
  readonly #bodiless: boolean
  readonly #onEvent: (data: string) => boolean
  #unread = Buffer.alloc(0)
  #head: Pick<Reply, 'status' | 'headers'> | undefined
  #body = ''
  #told = 0
  #whole = false

  constructor (bodiless: boolean, onEvent: (data: string) => boolean) {
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
    const data = eventsIn(this.#body.slice(this.#told, end))
    this.#told = end
    return data.some(text => this.#onEvent(text)) || (data.length === 0 && this.#onEvent(''))
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
