import { HttpConnection, type HttpRequest } from '../../support/http-connection.js'

/** A message, and the id of the event that it came in. */
export interface Message { id: string | undefined, text: string }

/**
 * The reply to a request: status 0 when the connection ended before, `whole` when the reply is complete, `late` when it
 * was given up.
 */
export interface Answer {
  status: number
  headers: Map<string, string>
  messages: Message[]
  lastId: string | undefined
  whole: boolean
  late: boolean
}

export interface AskOptions {
  /** After so many messages the connection is cut. */
  most?: number
  /** After so many milliseconds it is given up. */
  patience?: number
  onMessage?: (message: Message) => void
}

const PATIENCE = 60_000

/**
 * Leaves out what came again: an event that was sent before it was stored has no id, and a client that is cut then gets
 * it once more.
 */
export const withoutRepeated = (messages: Message[]): Message[] =>
  messages.filter(
    ({ id, text }, index) =>
      id !== undefined || !messages.slice(index + 1).some(later => later.id !== undefined && later.text === text)
  )

/** The kept-alive connections of one client, one for each node. */
export class Wire {
  readonly #connections = new Map<number, HttpConnection>()

  /** Never rejects. */
  async ask (
    port: number,
    request: HttpRequest,
    { most = Infinity, patience = PATIENCE, onMessage = () => {} }: AskOptions = {}
  ): Promise<Answer> {
    const connection = this.#connectionTo(port)
    const answer: Answer = { status: 0, headers: new Map(), messages: [], lastId: undefined, whole: false, late: false }
    let id: string | undefined
    const timer = setTimeout(() => {
      answer.late = true
      connection.socket.destroy()
    }, patience)
    await new Promise<void>(resolve =>
      connection.request(request, {
        head: (status, headers) => Object.assign(answer, { status, headers }),
        event: event => {
          if (answer.messages.length >= most) return
          id = event.id
          answer.lastId = id ?? answer.lastId
        },
        message: text => {
          if (answer.messages.length >= most) return
          answer.messages.push({ id, text })
          onMessage({ id, text })
          if (answer.messages.length >= most) connection.socket.resetAndDestroy()
        },
        end: () => {
          answer.whole = true
          resolve()
        },
        cut: resolve
      })
    )
    clearTimeout(timer)
    return answer
  }

  close (): void {
    for (const { socket } of this.#connections.values()) socket.destroy()
  }

  #connectionTo (port: number): HttpConnection {
    const known = this.#connections.get(port)
    if (known !== undefined && !known.closed) return known
    const connection = new HttpConnection(port)
    this.#connections.set(port, connection)
    return connection
  }
}
