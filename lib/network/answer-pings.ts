/** The members that are used of a WebSocket of `ws`. */
interface PingedSocket {
  readonly readyState: number
  readonly OPEN: number
  pong (data: Buffer): void
  on (event: 'ping', listener: (data: Buffer) => void): unknown
}

/** Answers the pings of a socket without `autoPong`, as long as it is open. With `autoPong`, ws makes an error for each ping that comes after the end, in one turn for a whole chunk. */
export function answerPings (socket: PingedSocket): void {
  socket.on('ping', data => { if (socket.readyState === socket.OPEN) socket.pong(data) })
}
