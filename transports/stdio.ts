import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backlog } from '../protocol/backlog.js'
import type { Channel } from '../protocol/channel.js'
import type { Dispatcher } from '../protocol/dispatcher.js'
import { errors } from '../protocol/errors.js'
import { ANYBODY, type Identity } from '../protocol/identity.js'
import { Peer } from '../protocol/peer.js'
import { LineReader } from './lines.js'

export interface StdioOptions {
  input: Readable
  output: Writable
  maxMessage: number
  /** From how many waiting bytes on the client has to read, and for how long it may read nothing of them. */
  maxQueue?: number
  writeDeadline?: number
  /** Whom the client speaks for; anybody when absent. */
  identity?: Identity
}

export interface Stdio {
  /** Settles when the client is gone and everything it asked for is answered, with why it is gone. Never rejects. */
  readonly closed: Promise<string>
  /** Settles when everything said so far was handed to the operating system, or the time is up. */
  flush: () => Promise<void>
}

/**
 * One process, one peer, one message a line. Reading pauses while the client does not read what it is sent, so that answers are bounded;
 * notifications are not, and whoever lets too many of them wait for too long is given up.
 */
export function serveStdio (mcp: Dispatcher, { input, output, maxMessage, maxQueue = Infinity, writeDeadline = 10_000, identity = ANYBODY }: StdioOptions): Stdio {
  const writer = new TickWriter(input, output)
  let giveUp = () => {}
  const backlog = new Backlog({ size: () => writer.size, max: maxQueue, deadline: writeDeadline, cut: () => giveUp(), patient: true, together: mcp.backlogs })
  const write = (text: string, answer: boolean) => backlog.written(writer.write(text), answer)
  const channel: Channel = {
    streams: true,
    respond: text => write(text, true),
    emit: text => write(text, false),
    end: () => {}
  }
  const peer = new Peer({ transport: 'stdio', channel, identity })
  mcp.connect(peer)

  const lines = new LineReader(maxMessage,
    line => mcp.receive(mcp.decode(line), peer, channel),
    () => mcp.receive({ kind: 'invalid', id: undefined, error: errors.invalidRequest(`a message is at most ${maxMessage} bytes`) }, peer, channel))
  input.on('data', (chunk: Buffer) => lines.push(chunk))

  const closed = new Promise<string>(resolve => {
    const finish = (reason: string) => {
      backlog.stop()
      mcp.disconnect(peer, new Error(reason))
      resolve(reason)
    }
    giveUp = () => {
      writer.drop()
      finish('standard output is not read')
    }
    let draining = false
    const drain = () => {
      if (draining) return
      draining = true
      lines.end()
      void peer.drain(mcp.limits.grace).then(() => writer.flush(mcp.limits.grace)).then(() => finish('standard input ended'))
    }
    for (const ending of ['end', 'error', 'close']) input.once(ending, drain)
    output.on('error', () => finish('standard output was closed'))
    output.once('close', () => finish('standard output was closed'))
  })
  return { closed, flush: async () => await writer.flush(mcp.limits.grace) }
}

/** Gathers what is written in one turn of the event loop into one write, and holds the input back while the output is full. */
class TickWriter {
  readonly #input: Readable
  readonly #output: Writable
  #waiting = ''
  #bytes = 0
  #full = false
  #dropped = false

  constructor (input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  /** How many bytes wait. */
  get size (): number {
    return this.#output.writableLength + this.#bytes
  }

  /** Returns how many bytes it is. */
  write (text: string): number {
    const bytes = Buffer.byteLength(text) + 1
    if (this.#dropped) return bytes
    if (this.#waiting === '') setImmediate(() => this.#send())
    this.#waiting += text + '\n'
    this.#bytes += bytes
    return bytes
  }

  /** Nobody reads it: nothing is written or waited for any more. */
  drop (): void {
    this.#dropped = true
    this.#take()
  }

  async flush (graceMs: number): Promise<void> {
    if (!this.#output.writable || this.#dropped) return
    const timeUp = new AbortController()
    const written = new Promise<void>(resolve => this.#output.write(this.#take(), () => resolve()))
    await Promise.race([written, sleep(graceMs, undefined, { signal: timeUp.signal, ref: false }).catch(() => {})])
    timeUp.abort()
  }

  #send (): void {
    const text = this.#take()
    if (text === '' || !this.#output.writable || this.#output.write(text) || this.#full) return
    this.#full = true
    this.#input.pause()
    this.#output.once('drain', () => {
      this.#full = false
      this.#input.resume()
    })
  }

  #take (): string {
    const text = this.#waiting
    this.#waiting = ''
    this.#bytes = 0
    return text
  }
}
