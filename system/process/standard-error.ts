import { format } from 'node:util'
import type { LogLines } from './log-lines.js'

/** Its file descriptor. */
export const STANDARD_ERROR = 2

type Done = (error?: Error) => void

/**
 * Gives standard error one writer: what `process.stderr`, the console and the warnings of Node.js print goes through
 * `lines`, in its order among the lines of the log. The stream keeps its promises: callbacks, encodings, `write`
 * returns false and `drain` follows. A program that was started with our standard error as its own writes past this.
 */
export function claimStandardError (lines: LogLines): void {
  // Node.js puts a pipe into non-blocking mode when it makes a stream of it.
  const { stderr } = process
  // A reader that goes away does not stop us.
  stderr.on('error', () => {})
  // On Windows a terminal takes its characters from the stream alone, which waits for it.
  if (process.platform === 'win32' && stderr.isTTY) return
  let full = false
  const usual = stderr.write.bind(stderr) as (...given: unknown[]) => boolean
  const take = (chunk: string | Uint8Array, done?: Done): boolean => {
    lines.print(chunk, done)
    full ||= lines.size >= stderr.writableHighWaterMark
    return !full
  }
  lines.onEmpty = () => {
    if (!full) return
    full = false
    process.nextTick(() => stderr.emit('drain'))
  }
  const write = (chunk: unknown, encoding?: unknown, callback: unknown = encoding): boolean => {
    const bytes = stderr.writable ? bytesOf(chunk, encoding) : undefined
    return bytes === undefined
      ? usual(chunk, encoding, callback)
      : take(bytes, typeof callback === 'function' ? (callback as Done) : undefined)
  }
  Object.defineProperties(stderr, {
    write: { value: write, writable: true, configurable: true },
    // Called by the stream itself, when it ends with some last words.
    _write: {
      value: (chunk: Buffer, _encoding: string, done: Done) => {
        take(chunk, done)
      },
      writable: true,
      configurable: true
    },
    _writev: { value: undefined, writable: true, configurable: true },
    writableLength: { get: () => lines.size, configurable: true },
    writableNeedDrain: { get: () => full, configurable: true }
  })
  Object.assign(process, { _rawDebug: (...words: unknown[]) => { write(`${format(...words)}\n`) } })
}

/** The bytes of a chunk; undefined for a chunk that the stream itself refuses. */
function bytesOf (chunk: unknown, encoding: unknown): string | Uint8Array | undefined {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk !== 'string') return undefined
  if (typeof encoding !== 'string' || /^utf-?8$/i.test(encoding)) return chunk
  return Buffer.isEncoding(encoding) ? Buffer.from(chunk, encoding) : undefined
}
