import { Chunks } from './chunks.js'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const NEWLINE = Buffer.from('\n')
const NOTHING = Buffer.alloc(0)
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** How much of a field other than `data` is read; the rest of such a line has no meaning for us. */
const MAX_FIELD = 4_096
/** The length that `data: ` adds to a line. */
const FIELD_NAME = 6
/** How many bytes are kept of both ends of an event that is skipped. */
const MAX_HEAD = 65_536
const MAX_TAIL = 1_200

/** An event of a stream; `type` is `message` unless the stream says otherwise. */
export interface SseEvent { readonly type: string, readonly data: Buffer }

export interface SseReaderEvents {
  event (event: SseEvent): void
  /** An event has more bytes than it may; it is skipped up to its end. */
  tooLong? (): void
  /** The end of an event that was skipped; both ends of its data, or of the line that is too long. */
  skipped? (head: Buffer, tail: Buffer): void
  /**
   * A line, or a part of one that is skipped, and so many bytes that are no data: all of a comment or an id, none of a
   * line of data.
   */
  line? (bytes: number): void
}

/**
 * Cuts the bytes of an event stream into events of at most `maxEvent` bytes, however they arrive. An event without data
 * is not reported, but its id counts.
 */
export class SseReader {
  /** The id to resume after; undefined where the stream gave none. */
  lastEventId: string | undefined
  /** How long to wait before connecting again, in milliseconds, where the stream says so. */
  retry: number | undefined
  readonly #maxEvent: number
  readonly #events: SseReaderEvents
  readonly #line = new Chunks()
  readonly #data = new Chunks()
  #type = ''
  #hasData = false
  #isFirstLine = true
  #afterReturn = false
  #skipped: { head: Buffer, tail: Buffer } | undefined
  #isPaused = false
  /** Bytes that came with the line during which it was paused, and after it. */
  #rest: Buffer = NOTHING

  constructor (maxEvent: number, events: SseReaderEvents) {
    this.#maxEvent = maxEvent
    this.#events = events
  }

  /** How many bytes are there of what is not complete. */
  get size (): number {
    return this.#line.size + this.#data.size + this.#rest.length
  }

  /** The chunk may be kept: it must not be written to afterwards. */
  push (chunk: Buffer): void {
    if (this.#rest.length > 0) this.#rest = Buffer.concat([this.#rest, chunk])
    else this.#keep(chunk, this.#cut(chunk))
  }

  /** Passes on no more lines until `resume`; also not those of the chunk that is being read. */
  pause (): void {
    this.#isPaused = true
  }

  /** Goes on with what has come; it may be paused again by that. */
  resume (): void {
    this.#isPaused = false
    const rest = this.#rest
    this.#keep(rest, this.#cut(rest))
  }

  /** No more comes: passes on what waits. */
  end (): void {
    while (this.#rest.length > 0) this.resume()
  }

  /** Nothing of a chunk stays in memory that was passed on. */
  #keep (chunk: Buffer, from: number): void {
    this.#rest = from < chunk.length ? chunk.subarray(from) : NOTHING
  }

  /** Returns where the lines end that were passed on. */
  #cut (chunk: Buffer): number {
    if (this.#isPaused) return 0
    let start = this.#afterReturn && chunk[0] === LF ? 1 : 0
    if (chunk.length > 0) this.#afterReturn = false
    // Each kind of line end is searched once per chunk and occurrence, so that the cost is linear.
    let lf = chunk.indexOf(LF, start)
    let cr = chunk.indexOf(CR, start)
    while (lf !== -1 || cr !== -1) {
      if (this.#isPaused) return start
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      this.#endLine(chunk.subarray(start, end))
      start = end + 1
      if (end === cr) {
        if (start === chunk.length) this.#afterReturn = true
        else if (chunk[start] === LF) start++
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start)
      if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start)
    }
    if (start < chunk.length) this.#addToLine(chunk.subarray(start))
    return chunk.length
  }

  #addToLine (part: Buffer): void {
    if (this.#skipped === undefined) {
      this.#line.add(part)
      if (this.#data.size + this.#line.size <= this.#maxEvent + FIELD_NAME) return
      this.#skip(this.#data.size > 0 ? this.#data.take() : valueOf(this.#line.take()))
    }
    if (this.#skipped !== undefined) {
      this.#skipped.tail = Buffer.concat([this.#skipped.tail, part.subarray(-MAX_TAIL)]).subarray(-MAX_TAIL)
    }
    this.#events.line?.(part.length)
    // While an event is skipped, a line is only known to be empty or not.
    if (this.#line.size === 0) this.#line.add(part.subarray(0, 1))
  }

  #endLine (rest: Buffer): void {
    if (this.#line.size > 0 || (this.#skipped !== undefined && rest.length > 0)) this.#addToLine(rest)
    const line = this.#line.size > 0 ? this.#line.take() : rest
    if (line.length === 0) {
      this.#endEvent()
      this.#events.line?.(0)
    } else if (this.#skipped === undefined) {
      this.#field(this.#isFirstLine && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line)
    }
    this.#isFirstLine = false
  }

  #field (line: Buffer): void {
    const colon = line.indexOf(COLON)
    if (colon === 0 || line.length === 0) return this.#events.line?.(line.length)
    const name = line.toString(
      'latin1',
      0,
      colon === -1 ? Math.min(line.length, MAX_FIELD) : Math.min(colon, MAX_FIELD)
    )
    const value = valueOf(line)
    if (name === 'data') {
      this.#addData(value)
      this.#events.line?.(0)
    } else {
      this.#events.line?.(line.length)
      this.#set(name, value.toString('utf8', 0, Math.min(value.length, MAX_FIELD)))
    }
  }

  #set (name: string, value: string): void {
    if (name === 'event') this.#type = value
    else if (name === 'id' && value.length < MAX_FIELD && !value.includes('\0')) {
      this.lastEventId = value === '' ? undefined : value
    } else if (name === 'retry' && /^\d{1,15}$/.test(value)) this.retry = Number(value)
  }

  #addData (value: Buffer): void {
    if (this.#hasData) this.#data.add(NEWLINE)
    this.#hasData = true
    if (value.length > 0) this.#data.add(value)
    if (this.#data.size > this.#maxEvent) this.#skip(this.#data.take())
  }

  #skip (start: Buffer): void {
    this.#data.clear()
    this.#line.clear()
    this.#skipped = { head: Buffer.from(start.subarray(0, MAX_HEAD)), tail: Buffer.from(start.subarray(-MAX_TAIL)) }
    this.#events.tooLong?.()
  }

  #endEvent (): void {
    const type = this.#type === '' ? 'message' : this.#type
    const data = this.#data.take()
    const hasData = this.#hasData
    const skipped = this.#skipped
    this.#type = ''
    this.#hasData = false
    this.#skipped = undefined
    if (skipped !== undefined) this.#events.skipped?.(skipped.head, skipped.tail)
    else if (hasData) this.#events.event({ type, data })
  }
}

function valueOf (line: Buffer): Buffer {
  const colon = line.indexOf(COLON)
  return line.subarray(colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1)
}
