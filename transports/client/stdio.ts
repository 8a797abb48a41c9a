import type { Readable, Writable } from 'node:stream'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Id, Message } from '../../protocol/wire/jsonrpc.js'
import { LineReader } from '../stdio/line-reader.js'
import { LineWriter } from '../stdio/line-writer.js'
import type { Link, LinkEvents, LinkLimits, LinkRequest } from './link.js'
import { concernOf, idOfAnswer } from './answered-id.js'
import { PipeShares } from './queue-shares.js'
import { IncomingReply, isLarge } from './reply-budget.js'
import { MessageDecoder } from './report-messages.js'
import { PausableSource, UnaskedMessages, type Source } from './unasked-messages.js'

/** A process that speaks MCP on its standard streams. */
export interface Child {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Settles when the process has ended and its output was read, with the reason. Never rejects. */
  readonly ended: Promise<string>
  /** Ends it and all that it started. Never rejects. */
  stop (): Promise<void>
}

export interface StdioLinkOptions extends LinkLimits {
  /**
   * The most bytes that wait for a child that does not read. The calls of one caller have at most half of what the
   * others leave.
   */
  maxQueue: number
  /** Settles when the child has written its first bytes to standard error; those on standard output are seen here. */
  alive?: Promise<void>
  /** Called with each line that is no message. */
  onNoise: (line: Buffer) => void
}

/**
 * How long a child that closed one of its standard streams has to end, in milliseconds: how it ended says more than the
 * closed stream.
 */
const EXIT_TIMEOUT = 250

/** How many bytes of the beginning of an over-long line are searched for its id. */
const HEAD = 65_536
const CANCELLED = 'notifications/cancelled'

/** A link to a child: one message a line. What a child writes between its messages is skipped. */
export function openStdioLink (child: Child, events: LinkEvents, options: StdioLinkOptions): Link {
  return new StdioLink(child, events, options)
}

class StdioLink implements Link {
  readonly transport = 'stdio'
  readonly channel: Channel
  readonly alive: Promise<void>
  readonly #child: Child
  readonly #events: LinkEvents
  readonly #options: StdioLinkOptions
  readonly #writer: LineWriter
  readonly #unasked: UnaskedMessages
  readonly #decoder: MessageDecoder
  readonly #shares: PipeShares
  readonly #source: Source
  /** True when no more follows: the last line may be half a message. */
  #cut = false
  #ended = false
  #timer: NodeJS.Timeout | undefined
  #incoming: IncomingReply | undefined

  constructor (child: Child, events: LinkEvents, options: StdioLinkOptions) {
    this.#child = child
    this.#events = events
    this.#options = options
    this.alive = Promise.race(
      [options.alive ?? [], new Promise<void>(resolve => child.stdout.once('data', () => resolve()))].flat()
    )
    this.#writer = new LineWriter(child.stdin)
    this.#unasked = new UnaskedMessages(options.maxUnasked)
    this.#decoder = new MessageDecoder(options)
    this.#shares = new PipeShares(options.maxQueue)
    const put = (text: string) => this.#put(text)
    this.channel = { streams: true, respond: put, emit: put, end: () => {} }
    this.#source = this.#read()
    child.stdin.on('error', () => this.#lose('it closed its standard input'))
    child.stdout.on('error', () => this.#lose('its standard output cannot be read'))
    child.stdout.once('end', () => this.#lose('it closed its standard output'))
    void child.ended.then(reason => this.#finish(reason))
  }

  channelFor (request: LinkRequest): Channel {
    this.#decoder.expect(request)
    const { size } = this.#writer
    if (size === 0) return this.channel
    return size > this.#options.maxQueue ? this.#fullChannel(request.id) : this.#waitingChannel(request)
  }

  setRevision (): void {}

  async close (): Promise<void> {
    await this.#child.stop()
    this.#finish('the connection was closed')
  }

  #read (): Source {
    const { maxMessage } = this.#options
    let head = Buffer.alloc(0)
    const lines = new LineReader(
      maxMessage,
      line => this.#receive(line),
      start => {
        head = Buffer.from(start.subarray(0, Math.min(HEAD, maxMessage)))
      }
    )
    lines.onSkipped = tail => {
      const concern = concernOf(head, tail)
      if (concern === undefined || this.#cut) this.#options.onNoise(head)
      else this.#events.failed(concern.id, new Error(`it wrote a line of more than ${maxMessage} bytes`))
    }
    lines.onNothing = bytes => this.#unasked.addLine(this.#source, bytes)
    const source: Source = new PausableSource(lines, this.#child.stdout, () =>
      this.#incoming?.update(this.#ended ? 0 : lines.size)
    )
    this.#child.stdout.on('data', (chunk: Buffer) => {
      if (this.#ended) return
      lines.push(chunk)
      if (this.#incoming !== undefined || isLarge(lines.size)) {
        (this.#incoming ??= new IncomingReply(this.#options.replies, this, source)).update(lines.size)
      }
    })
    this.#child.stdout.once('end', () => {
      this.#cut = true
      lines.end()
    })
    return source
  }

  #receive (line: Buffer): void {
    const incoming = this.#decoder.decode(line)
    if (incoming.kind === 'batch') for (const message of incoming.messages) this.#pass(message, line)
    else this.#pass(incoming, line)
  }

  #pass (message: Message, line: Buffer): void {
    if (message.kind !== 'invalid') {
      if (!this.#events.message(message, undefined)) this.#unasked.add(this.#source, message, line.length)
      return
    }
    this.#unasked.add(this.#source, message, line.length)
    const id = this.#cut ? undefined : idOfAnswer(line)
    if (id === undefined) this.#options.onNoise(line)
    else this.#events.failed(id, new Error(`its response cannot be read: ${message.error.message}`))
  }

  // Text that waits for a child that does not read is bounded; a cancellation may exceed the bound, because what it
  // takes back was counted.
  #put (text: string): void {
    if (this.#writer.size <= 2 * this.#options.maxQueue) this.#writer.put(text, false)
  }

  /** For a request behind what the child has not read. */
  #waitingChannel ({ id, caller }: LinkRequest): Channel {
    const full = this.#fullChannel(id)
    let isRefused = false
    const emit = (text: string, method: string): void => {
      isRefused ||= method !== CANCELLED && !this.#shares.enter(caller, text.length, this.#writer.size)
      if (isRefused) full.emit(text, method)
      else this.#put(text)
    }
    return { ...this.channel, emit }
  }

  #fullChannel (id: Id): Channel {
    const fail = () => {
      this.#events.failed(id, new Error(`it does not read its standard input, where ${this.#writer.size} bytes wait`))
    }
    return {
      streams: true,
      respond: () => {},
      emit: (_text, method) => {
        if (method !== CANCELLED) queueMicrotask(fail)
      },
      end: () => {}
    }
  }

  #lose (reason: string): void {
    this.#timer ??= setTimeout(() => {
      void this.#child.stop()
      this.#finish(reason)
    }, EXIT_TIMEOUT)
  }

  #finish (reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#timer)
    this.#writer.drop()
    this.#unasked.stop()
    this.#incoming?.update(0)
    this.#events.closed(new Error(reason))
  }
}
