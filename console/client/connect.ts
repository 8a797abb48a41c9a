import { ConnectionLost, type Client, type Era, type JsonObject } from './contract.js'
import { connectLegacy } from './legacy.js'
import { connectModern } from './modern.js'
import type { OnMessage } from './rpc.js'
import { Session } from './session.js'
import { closeInWords, OPEN, openSocket, type Closing, type MakeSocket } from './socket.js'

export interface ConnectOptions {
  era: Era
  url: string
  protocols: string[]
  makeSocket: MakeSocket
  clientInfo: JsonObject
  onMessage?: OnMessage
  /** Closes the connection; what still comes is not read, and nothing is sent. */
  signal?: AbortSignal
  /** Called once, when a connection that was made has ended. */
  onClosed?: (closing: Closing) => void
}

export interface Connection { client: Client, close: () => void }

/** Opens a socket and speaks the handshake of the era. Rejects with `ConnectionLost` or `RpcError`. */
export async function connect ({
  era,
  url,
  protocols,
  makeSocket,
  clientInfo,
  onMessage = () => {},
  signal,
  onClosed
}: ConnectOptions): Promise<Connection> {
  let made = false
  let lost: ConnectionLost | undefined
  let isLeft = signal?.aborted === true
  // A cancellation because the connection closes needs no message.
  const session: Session = new Session(
    text => {
      if (socket.readyState === OPEN) socket.send(text)
    },
    (...message) => {
      if (!isLeft) onMessage(...message)
    }
  )
  const socket = await openSocket(makeSocket, url, protocols, {
    message: text => {
      if (!isLeft) session.receive(text)
    },
    closed: closing => {
      lost = new ConnectionLost(closeInWords(closing))
      session.close(lost)
      if (made) onClosed?.(closing)
    }
  })
  const close = (): void => {
    isLeft = true
    socket.close(1000, 'the page is done')
  }
  signal?.addEventListener('abort', close, { once: true })
  if (isLeft) close()
  try {
    const client = await (era === 'legacy' ? connectLegacy : connectModern)(session, clientInfo)
    // The handshake does without answers that are not needed, also when they do not come because the connection has
    // ended.
    if (lost !== undefined) throw lost
    made = true
    return { client, close }
  } catch (error) {
    socket.close()
    throw error
  }
}
