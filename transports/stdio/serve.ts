import type { Readable, Writable } from 'node:stream'
import { Backlog } from '../../lib/backlog.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import { errors } from '../../protocol/wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../../protocol/wire/identity.js'
import { Peer } from '../../protocol/peer/peer.js'
import { InputBackpressure } from './input-backpressure.js'
import { LineWriter } from './line-writer.js'
import { LineReader } from './line-reader.js'

export interface StdioOptions {
  /** A chunk is used during its `data` event only. */
  input: Readable
  output: Writable
  maxMessage: number
  /** The most bytes that may be queued for a client that reads nothing for `writeDeadline` milliseconds. */
  maxQueue?: number
  writeDeadline?: number
  /** The identity of the client; every right when absent. */
  identity?: Identity
  /** The view that the client sees; that of its identity, or the whole gateway, when absent. */
  view?: string | undefined
}

export interface Stdio {
  /** Settles when the client is disconnected and its requests are answered, with the reason. Never rejects. */
  readonly closed: Promise<string>
  /** Settles when everything sent so far was handed to the operating system, or the grace period is over. */
  flush: () => Promise<void>
  /**
   * From now on the end of standard input also ends the calls in flight, at once if it has ended: the client has asked
   * twice for the end.
   */
  abandon: () => void
}

/**
 * One process, one peer, one message a line. Reading pauses while the client does not read, so that queued responses
 * are bounded. Queued notifications are not: a client that lets too many of them wait for too long is disconnected.
 */
export function serveStdio ({ dispatcher: mcp }: { dispatcher: Dispatcher }, options: StdioOptions): Stdio {
  const { input, output, maxMessage, maxQueue = Infinity, writeDeadline = 10_000 } = options
  const writer = new LineWriter(output)
  let giveUp = () => {}
  let abandon = () => {}
  const backlog = new Backlog({
    size: () => writer.size,
    max: maxQueue,
    deadline: writeDeadline,
    cut: () => giveUp(),
    toleratesResponses: true,
    shared: mcp.backlogs
  })
  writer.onWritten = (bytes, responsesOnly) => backlog.recordWrite(bytes, responsesOnly)
  const channel = lineChannel(writer)
  const peer = new Peer({ transport: 'stdio', channel, ...whoSees(options) })
  mcp.lifecycle.connect(peer)

  const lines = new LineReader(maxMessage,
    line => mcp.receive(mcp.decode(line), peer, channel),
    () => mcp.receive({ kind: 'invalid', id: undefined, error: errors.messageTooLong(maxMessage) }, peer, channel))
  const held = new InputBackpressure(input, lines, writer)
  // A stream that was given an encoding has strings.
  input.on('data', (chunk: Buffer | string) => held.take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  // A plugin may have paused it before.
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
    let abandoned = false
    const endCalls = () => {
      peer.giveUp(errors.closing())
      finish('standard input ended')
    }
    abandon = () => {
      abandoned = true
      if (draining) endCalls()
    }
    const drain = () => {
      if (draining) return
      draining = true
      if (abandoned) return endCalls()
      void finishCalls(held, lines, peer, writer, mcp.limits.grace).catch(() => {})
        .then(() => finish('standard input ended'))
    }
    for (const ending of ['end', 'error', 'close']) input.once(ending, drain)
    output.on('error', () => finish('standard output was closed'))
    output.once('close', () => finish('standard output was closed'))
  })
  return { closed, flush: async () => await writer.flush(mcp.limits.grace), abandon: () => abandon() }
}

/** Hands over what was read, and waits until its calls are answered and the answers are written. */
async function finishCalls (
  held: InputBackpressure,
  lines: LineReader,
  peer: Peer,
  writer: LineWriter,
  grace: number
): Promise<void> {
  await held.waitForHandOver(grace)
  lines.end()
  await peer.drain(grace)
  await writer.flush(grace)
}

const lineChannel = (writer: LineWriter): Channel => ({
  streams: true,
  respond: text => writer.put(text, true),
  emit: text => writer.put(text, false),
  unwritten: () => writer.size,
  end: () => {}
})

/** The client, and the view that it sees. */
const whoSees = ({
  identity = ANONYMOUS_ALL_SCOPES,
  view = identity.view
}: StdioOptions): Pick<Peer, 'identity' | 'view'> => ({ identity, view })
