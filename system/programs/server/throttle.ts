import type { Readable } from 'node:stream'

/** The most bytes that are read in `WINDOW` milliseconds. */
const MAX_BYTES = 1024 * 1024
const WINDOW = 100

/**
 * Reads a stream to its end, but not faster than 10 MiB a second: a program that floods it waits, and this process does
 * not work for it alone.
 */
export function readThrottled (stream: Readable, onChunk: (chunk: Buffer) => void): void {
  let read = 0
  let timer: NodeJS.Timeout | undefined
  const resume = () => {
    timer = undefined
    read = 0
    stream.resume()
  }
  stream.on('data', (chunk: Buffer) => {
    onChunk(chunk)
    read += chunk.length
    timer ??= setTimeout(resume, WINDOW).unref()
    if (read >= MAX_BYTES) stream.pause()
  })
  stream.once('close', () => clearTimeout(timer))
  // A pipe that breaks has ended.
  stream.on('error', () => {})
}
