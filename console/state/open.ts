import { connect, type Connection } from '../client/connect.js'
import type { Era } from '../client/contract.js'
import type { Closing, MakeSocket } from '../client/socket.js'
import { LoginNeeded, openSocketProtocols } from '../login/credential.js'
import type { Ports } from './connection.js'
import { MessageLog } from './messages.js'

const CLIENT = { name: 'patchbay-console', title: 'Patchbay console', version: '1' }

/** How this page opens a connection: a new ticket, a socket, the handshake of the era. */
export function portsOf (url: string, makeSocket: MakeSocket, log: MessageLog): Ports {
  return {
    needsLogin: error => error instanceof LoginNeeded,
    open: async (era: Era, onClosed: (closing: Closing) => void, signal: AbortSignal): Promise<Connection> =>
      await connect({ era, url, protocols: await openSocketProtocols(), makeSocket, clientInfo: CLIENT, onMessage: log.add, signal, onClosed })
  }
}
