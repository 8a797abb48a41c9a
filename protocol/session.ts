import { randomBytes } from 'node:crypto'
import { Peer, type PeerOptions } from './peer.js'
import { ResumableStream } from './resumable-stream.js'

const MAX_STREAMS = 256
const MAX_KEPT = 1_048_576

/** What a stateful HTTP client is remembered by: its peer, and its streams until they are of no use any more. */
export class Session {
  /** 192 random bits: an id is not guessed. */
  readonly id = randomBytes(24).toString('base64url')
  readonly peer: Peer
  /** Carries what belongs to no call, whether or not the client has opened it. */
  readonly standalone: ResumableStream
  /** Everything outside an answer goes to the standalone stream: its client reads named events beside plain replies. */
  named = false
  lastSeen = Date.now()
  readonly #streams = new Map<string, ResumableStream>()
  #opened = 0

  constructor (options: PeerOptions, primed: boolean) {
    this.standalone = new ResumableStream('0', primed)
    this.peer = new Peer({ ...options, channel: this.standalone })
  }

  /** A stream for one reply. Finished ones are kept for clients that lost the end, the oldest given up first. */
  openStream (): ResumableStream {
    const stream = new ResumableStream(String(++this.#opened), this.peer.revision?.polling === true, () => this.#forget(stream.key))
    this.#streams.set(stream.key, stream)
    this.#forget(stream.key)
    return stream
  }

  /** The stream an event id belongs to, and the position in it; undefined when it cannot be resumed from there. */
  locate (eventId: string): { stream: ResumableStream, after: number } | undefined {
    const [, key, seq] = /^(\d+)-(\d+)$/.exec(eventId) ?? []
    const stream = key === undefined ? undefined : key === '0' ? this.standalone : this.#streams.get(key)
    return stream?.reaches(Number(seq)) === true ? { stream, after: Number(seq) } : undefined
  }

  // The newest is always kept, and what nobody has fetched yet is given up last.
  #forget (newest: string): void {
    const ended = [...this.#streams.values()].filter(stream => stream.ended && stream.key !== newest)
    let kept = [...this.#streams.values()].reduce((sum, { size }) => sum + size, 0)
    for (const { key, size } of [...ended.filter(stream => stream.delivered), ...ended.filter(stream => !stream.delivered)]) {
      if (this.#streams.size <= MAX_STREAMS && kept <= MAX_KEPT) return
      this.#streams.delete(key)
      kept -= size
    }
  }

  /** True while the client is connected or waits for an answer. */
  get busy (): boolean {
    return this.standalone.connected || this.peer.inbound.size > 0
  }
}
