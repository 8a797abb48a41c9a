import { fstatSync } from 'node:fs'
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import { Readable } from 'node:stream'

/** Its file descriptor. */
const STANDARD_INPUT = 0
const BUFFER_SIZE = 65_536
/** The most bytes that wait for a plugin that listens and does not read; it misses what comes then. */
const MAX_COPIES = 4 * 1024 * 1024

/**
 * Takes standard input for the stdio transport; what is returned opens it. A chunk of a pipe may be used during its
 * `data` event only, because all chunks are read into one buffer. `process.stdin` is then a stream of its own, which
 * gets copies while a plugin listens to it.
 */
export function claimStandardInput (): () => Readable {
  // Windows has pipes of another kind.
  if (process.platform === 'win32' || !isPipedInput()) return openStream
  const copies = new Readable({ read: () => {} })
  Object.assign(copies, { fd: STANDARD_INPUT, ref: () => copies, unref: () => copies })
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => copies })
  return () => openPipe(copies)
}

// One buffer: stdio, 1 in flight, is 1.26 [1.13..1.30] of process.stdin, which allocates 64 KiB for each read.
function openPipe (copies: Readable): Readable {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_SIZE)
  const callback = (size: number): boolean => {
    const chunk = buffer.subarray(0, size)
    // Before the message is handled: a tool that begins to listen because of it gets what comes after it.
    if (isHeard(copies)) copies.push(Buffer.from(chunk))
    return input.emit('data', chunk)
  }
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: STANDARD_INPUT,
    readable: true,
    writable: false,
    onread: { buffer, callback }
  }
  const input = new Socket(options)
  // The copies flow and end as a stream does that the transport reads, also where a plugin has paused them.
  copies.resume()
  return input.once('end', () => {
    copies.push(null)
    copies.removeAllListeners('readable').resume()
  })
}

function isHeard (copies: Readable): boolean {
  return copies.listenerCount('data') + copies.listenerCount('readable') > 0 && copies.readableLength < MAX_COPIES
}

function openStream (): Readable {
  // A plugin's `readable` listener would keep `data` events away from the transport.
  return process.stdin.removeAllListeners('readable')
}

/** True if standard input is a pipe or a socket: not a terminal, a file, /dev/null, or closed. */
export function isPipedInput (): boolean {
  try {
    const stat = fstatSync(STANDARD_INPUT)
    return stat.isFIFO() || stat.isSocket()
  } catch {
    return false
  }
}
