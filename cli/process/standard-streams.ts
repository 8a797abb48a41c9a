import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { isPipedInput } from '../../system/process/standard-input.js'

/** The most bytes of standard input that are looked at. */
const MOST = 65_536

/**
 * Calls `report` once if the first line on standard input is a JSON-RPC message, which means that a client launched the
 * command and `--stdio` is missing. Only a pipe or a socket is read: not a terminal, /dev/null, a file, or a closed
 * standard input.
 */
export function watchStrayInput (report: () => void): void {
  if (isPipedInput()) watchInput(process.stdin, report)
}

/** Reads until the end of the first line, at most 64 KiB. The process does not stay alive for it. */
export function watchInput (input: Socket, report: () => void): void {
  let text = ''
  const stop = (): void => {
    input.off('data', onData)
    // A plugin may read standard input, too.
    if (input.listenerCount('data') === 0) input.pause()
  }
  const onData = (chunk: Buffer): void => {
    text += chunk.toString('latin1', 0, MOST)
    const end = text.indexOf('\n')
    if (end === -1 && text.length < MOST) return
    stop()
    if (isMessage(end === -1 ? text : text.slice(0, end))) report()
  }
  input.on('data', onData)
  // A client that goes away is no fault of this process.
  input.on('error', stop)
  input.unref()
}

const isMessage = (line: string): boolean => /^\s*\[?\s*\{.*"jsonrpc"\s*:/.test(line)

/**
 * Returns standard output, which belongs to the stdio transport. What plugins print to `process.stdout` goes to
 * standard error.
 */
export function claimStandardOutput (): Writable {
  const { stdout, stderr } = process
  Object.defineProperty(process, 'stdout', { get: () => stderr })
  return stdout
}
