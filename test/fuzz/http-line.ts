import type { Socket } from 'node:net'
import { EventParser } from '../support/event-reader.js'
import { ReplyParser, type Reply } from '../support/reply-parser.js'
import { connected, hangUp } from './sockets.js'
import { Wait } from './waiting.js'

export type { Reply } from '../support/reply-parser.js'

export interface Exchange {
  /** No body follows, whatever the headers announce. */
  bodiless?: boolean
  /** True when nothing is sent after this. */
  last?: boolean
  /** Takes the data of an event as it comes, and the id where it has one; true when no more is wanted. */
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
  async exchange (
    pieces: Buffer[],
    { bodiless = false, last = false, onEvent = () => false }: Exchange = {}
  ): Promise<Reply | undefined> {
    const socket = await this.#open()
    const parser = parserFor(onEvent, bodiless)
    const wait = new Wait(() => parser.done)
    const data = (chunk: Buffer) => {
      parser.push(chunk)
      wait.look()
    }
    const close = () => {
      parser.end()
      wait.look()
    }
    socket.on('data', data).once('close', close)
    for (const piece of pieces) socket.write(piece)
    if (last) socket.end()
    const came = await wait.promise
    socket.off('data', data).off('close', close)
    if (last || !parser.reusable) this.close()
    return came ? parser.reply : undefined
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
  readonly #parser: ReplyParser

  constructor (socket: Socket, onEvent: (data: string, id: string | undefined) => void) {
    this.#socket = socket
    this.#parser = parserFor((data, id) => {
      onEvent(data, id)
      return false
    })
  }

  /** Settles when the head of the reply is there, the connection has ended, or the time is up. */
  static async open (
    port: number,
    request: Buffer,
    onEvent: (data: string, id: string | undefined) => void
  ): Promise<StreamLine> {
    const line = new StreamLine(await connected(port), onEvent)
    await line.#begin(request)
    return line
  }

  /** Its `status` is 0 when there was none. */
  get reply (): Reply {
    return this.#parser.reply
  }

  get streams (): boolean {
    return isStream(this.reply)
  }

  close (): void {
    hangUp(this.#socket)
  }

  async #begin (request: Buffer): Promise<void> {
    const wait = new Wait(() => this.#parser.done || this.streams)
    this.#socket.on('data', chunk => {
      this.#parser.push(chunk)
      wait.look()
    })
    this.#socket.once('close', () => {
      this.#parser.end()
      wait.look()
    })
    this.#socket.write(request)
    await wait.promise
  }
}

function parserFor (onEvent: OnEvent, bodiless = false): ReplyParser {
  const events = new EventParser()
  let chunked = false
  return new ReplyParser({
    bodiless,
    skipsContinue: true,
    onHead: ({ headers }) => { chunked = headers.get('transfer-encoding') === 'chunked' },
    onBody: part => chunked && events.push(part).map(({ data = '', id }) => onEvent(data, id)).includes(true)
  })
}

const isStream = ({ headers }: Reply): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true
