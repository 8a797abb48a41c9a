import { ConnectionLost } from './contract.js'

/** The members of a WebSocket that the client uses; that of browsers and that of `ws` both have them. */
export interface SocketLike {
  readonly readyState: number
  send: (text: string) => void
  close: (code?: number, reason?: string) => void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

/** The `readyState` in which a socket can send. */
export const OPEN = 1

export type MakeSocket = (url: string, protocols: string[]) => SocketLike

/** How a connection ended, as the WebSocket tells it. */
export interface Closing { code: number, reason: string }

interface SocketEvents { message: (text: string) => void, closed: (closing: Closing) => void }

/** Settles when the socket is open; rejects with `ConnectionLost` when it cannot be opened. */
export async function openSocket (
  make: MakeSocket,
  url: string,
  protocols: string[],
  events: SocketEvents
): Promise<SocketLike> {
  const socket = make(url, protocols)
  return await new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket)
    socket.onmessage = ({ data }: { data: unknown }) => events.message(String(data))
    // The close event follows, and has the code.
    socket.onerror = () => {}
    socket.onclose = ({ code, reason }: Closing) => {
      reject(new ConnectionLost(closeInWords({ code, reason })))
      events.closed({ code, reason })
    }
  })
}

/** Close codes that bring the login back. */
export const EXPIRED = 4401

const WORDS: Record<number, string> = {
  1000: 'The connection was closed',
  1001: 'The gateway is shutting down',
  1002: 'The gateway saw a broken frame',
  1003: 'The gateway accepts text only',
  1005: 'The connection was closed without a reason',
  1006: 'The gateway cannot be reached, or the network was cut',
  1007: 'The gateway saw text that is not UTF-8',
  1008: 'The gateway closed the connection by its limits',
  1009: 'A message was larger than the gateway accepts',
  1011: 'The gateway had an internal error',
  1012: 'The gateway is restarting',
  1013: 'The gateway has too much to do',
  [EXPIRED]: 'The credential has expired'
}

export function closeInWords ({ code, reason }: Closing): string {
  const words = WORDS[code] ?? 'The connection was closed'
  return `${words} (code ${code}${reason === '' ? '' : `: ${reason}`})`
}
