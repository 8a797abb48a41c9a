import fs from 'node:fs'
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import type { Readable } from 'node:stream'

const [INPUT, OUTPUT] = [0, 1]
const ROOM = 65_536

/**
 * Standard input. A pipe is read into one buffer again and again: a buffer of its own for each message, and the stream around it, would
 * cost as much as the message. So whoever listens alone has to copy what it needs for longer than its event; where others listen too,
 * such as a plugin that does not know, they get a copy. Nothing is read before somebody listens. Whoever uses `process.stdin` from now on
 * has the same stream: a second one could not read, nor hear of the end.
 */
export function standardInput (): Readable {
  if (!isPipe(INPUT)) return process.stdin
  const options: SocketConstructorOpts & ConnectOpts & { manualStart: boolean } = {
    fd: INPUT,
    manualStart: true,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(ROOM),
      callback: (size, bytes) => {
        const chunk = bytes.subarray(0, size)
        return input.emit('data', input.listenerCount('data') > 1 ? Buffer.from(chunk) : chunk)
      }
    }
  }
  const input = new Socket(options)
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => input })
  return input
}

/**
 * Writes to standard output what it takes of the first bytes without waiting, and gives how many that were; what is wrong with it is
 * for its stream to tell. Undefined where this could wait.
 */
export function standardOutputNow (): ((bytes: Uint8Array, size: number) => number) | undefined {
  return isPipe(OUTPUT) ? writeNow : undefined
}

function writeNow (bytes: Uint8Array, size: number): number {
  try {
    return fs.writeSync(OUTPUT, bytes, 0, size)
  } catch {
    return 0
  }
}

/** Pipes do not block once Node.js has made a stream of them. Windows has its own kind. */
function isPipe (fd: number): boolean {
  if (process.platform === 'win32') return false
  try {
    const stat = fs.fstatSync(fd)
    return stat.isFIFO() || stat.isSocket()
  } catch {
    return false
  }
}
