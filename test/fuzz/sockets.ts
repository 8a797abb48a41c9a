import { connect, type Socket } from 'node:net'

/**
 * A connection to a port of this machine. When there are many at once, the kernel may take a second for it: that is no
 * hang of the server.
 */
export async function connected (port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise<void>((resolve, reject) => { socket.once('connect', resolve).once('error', reject) })
  return socket.removeAllListeners('error').on('error', () => {})
}

/** Hangs up on a server in the way that leaves no trace in the kernel: there are too many of us for polite ends. */
export function hangUp (socket: Socket): void {
  // A socket that is shutting down cannot be reset, and would never emit that it is closed.
  if (socket.writableEnded) socket.destroy()
  else if (!socket.destroyed) socket.resetAndDestroy()
}
