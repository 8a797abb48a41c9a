import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backlog } from '../../lib/backlog.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { WHEN_SETTLED } from '../../lib/turn-batch.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { errors } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import { Peer } from '../../protocol/peer/peer.js'
import { HeldInput } from './held-input.js'
import { LineReader } from './lines.js'

export interface StdioOptions {
  input: Readable
  /** Has what comes from the input handed over without an event: the first bytes of a room, which is used anew afterwards; absent where there is no such way. */
  onBytes?: ((take: (room: Buffer, size: number) => void) => void) | undefined
  output: Writable
  /** Writes to the output what of the first bytes can be written without waiting, and gives how many that were; absent where there is no such way. */
  writeNow?: ((bytes: Uint8Array, size: number) => number) | undefined
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
export function serveStdio ({ dispatcher: mcp }: { dispatcher: Dispatcher }, { input, onBytes = take => input.on('data', (chunk: Buffer) => take(chunk, chunk.length)), output, writeNow, maxMessage, maxQueue = Infinity, writeDeadline = 10_000, identity = ANONYMOUS_ALL_SCOPES }: StdioOptions): Stdio {
  const writer = new LineWriter(output, writeNow)
  let giveUp = () => {}
  const backlog = new Backlog({ size: () => writer.size, max: maxQueue, deadline: writeDeadline, cut: () => giveUp(), toleratesResponses: true, shared: mcp.backlogs })
  writer.onWritten = (bytes, answersOnly) => backlog.recordWrite(bytes, answersOnly)
  const channel: Channel = {
    streams: true,
    respond: text => writer.put(text, true),
    emit: text => writer.put(text, false),
    end: () => {}
  }
  const peer = new Peer({ transport: 'stdio', channel, identity })
  mcp.lifecycle.connect(peer)

  const lines = new LineReader(maxMessage,
    (bytes, start, end) => mcp.receive(mcp.decode(bytes, start, end), peer, channel),
    () => mcp.receive({ kind: 'invalid', id: undefined, error: errors.invalidRequest(`a message is at most ${maxMessage} bytes`) }, peer, channel))
  const held = new HeldInput(input, lines, writer)
  onBytes((room, size) => held.take(room, size))
  // Somebody may have paused it before.
  input.resume()

  const closed = new Promise<string>(resolve => {
    const finish = (reason: string) => {
      backlog.stop()
      mcp.lifecycle.disconnect(peer, new Error(reason))
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
      void held.handedOver(mcp.limits.grace).then(async () => {
        lines.end()
        await peer.drain(mcp.limits.grace)
      }).then(() => writer.flush(mcp.limits.grace)).then(() => finish('standard input ended'))
    }
    for (const ending of ['end', 'error', 'close']) input.once(ending, drain)
    output.on('error', () => finish('standard output was closed'))
    output.once('close', () => finish('standard output was closed'))
  })
  return { closed, flush: async () => await writer.flush(mcp.limits.grace) }
}

/** How many characters are gathered at most. */
const LARGE = 1024 * 1024
/** How many bytes are written without room of their own, and how many a character may take. */
const PAGE = 65_536
const MOST_BYTES = 3

/** Gathers what is said in one go into one write, and knows while the output is full. */
class LineWriter {
  readonly #output: Writable
  readonly #writeNow: StdioOptions['writeNow']
  readonly #page = Buffer.allocUnsafeSlow(PAGE)
  readonly #run = () => this.#send()
  #waiting = ''
  #answersOnly = true
  #full = false
  #dropped = false
  /** Hears how many bytes were written, and whether there were only answers among them. */
  onWritten: (bytes: number, answersOnly: boolean) => void = () => {}
  /** Runs when the output is not full any more. */
  onDrain: () => void = () => {}

  constructor (output: Writable, writeNow: StdioOptions['writeNow']) {
    this.#output = output
    this.#writeNow = writeNow
  }

  get full (): boolean {
    return this.#full
  }

  /** How many bytes wait. */
  get size (): number {
    return this.#output.writableLength
  }

  put (text: string, answer: boolean): void {
    if (this.#dropped) return
    if (this.#waiting === '') WHEN_SETTLED(this.#run)
    this.#waiting += text + '\n'
    this.#answersOnly &&= answer
    if (this.#waiting.length > LARGE) this.#send()
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
    const answersOnly = this.#answersOnly
    const text = this.#take()
    if (text === '' || !this.#output.writable) return
    const bytes = this.#writeNow === undefined || this.size > 0 ? this.#write(Buffer.from(text)) : this.#writeAtOnce(text, this.#writeNow)
    this.onWritten(bytes, answersOnly)
  }

  // Past the stream, which takes longer to write a line than it takes to make it, as long as the reader keeps up.
  #writeAtOnce (text: string, writeNow: (bytes: Uint8Array, size: number) => number): number {
    const fits = text.length * MOST_BYTES <= PAGE
    const bytes = fits ? this.#page : Buffer.from(text)
    const size = fits ? this.#page.write(text) : bytes.length
    const taken = writeNow(bytes, size)
    if (taken < size) this.#write(Buffer.from(bytes.subarray(taken, size)))
    return size
  }

  #write (bytes: Buffer): number {
    if (!this.#output.write(bytes) && !this.#full) this.#hold()
    return bytes.length
  }

  #hold (): void {
    this.#full = true
    this.#output.once('drain', () => {
      this.#full = false
      this.onDrain()
    })
  }

  #take (): string {
    const text = this.#waiting
    this.#waiting = ''
    this.#answersOnly = true
    return text
  }
}
