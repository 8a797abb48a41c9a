import fs from 'node:fs'
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import type { Readable } from 'node:stream'

const [INPUT, OUTPUT] = [0, 1]
const ROOM = 65_536

/** Gets the first bytes of a room, which is somebody else's again when it returns. */
type Take = (room: Buffer, size: number) => void

/**
 * Standard input. A pipe is read into one room again and again, for whoever is named to `onBytes`: a buffer of its own for each message,
 * and an event, would cost as much as the message. Others who listen to its data, such as a plugin, get a copy. Nothing is read before
 * somebody wants it. Whoever uses `process.stdin` from now on has the same stream: a second one could not read, nor hear of the end.
 */
export function standardInput (): { input: Readable, onBytes?: (take: Take) => void } {
  if (!isPipe(INPUT)) return { input: process.stdin }
  let taker: Take | undefined
  const room = Buffer.allocUnsafeSlow(ROOM)
  const callback = (size: number): boolean => {
    // Whoever begins to listen because of it hears what comes next.
    const heard = input.listenerCount('data') > 0
    taker?.(room, size)
    return heard ? input.emit('data', Buffer.from(room.subarray(0, size))) : taker !== undefined
  }
  const options: SocketConstructorOpts & ConnectOpts & { manualStart: boolean } = { fd: INPUT, manualStart: true, readable: true, writable: false, onread: { buffer: room, callback } }
  const input = new Socket(options)
  Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => input })
  return { input, onBytes: take => { taker = take } }
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
