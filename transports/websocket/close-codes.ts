/** How a socket is closed: the code, and the reason text that goes with it. */
export interface Close { readonly code: number, readonly reason: string }

/**
 * Every close code that the gateway chooses. ws chooses the ones for broken frames (1002), text that is not UTF-8
 * (1007), too many fragments (1008) and messages that are too large (1009). docs/connect.md lists all of them.
 */
export const CLOSE = {
  shuttingDown: { code: 1001, reason: 'the server is shutting down' },
  notText: { code: 1003, reason: 'messages are text frames' },
  notReading: { code: 1008, reason: 'messages are not read' },
  incompleteMessage: { code: 1008, reason: 'a message was not complete in time' },
  tooManyPings: { code: 1008, reason: 'too many pings' },
  expired: { code: 4401, reason: 'credential expired' }
} as const satisfies Record<string, Close>
