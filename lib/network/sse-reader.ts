import { Chunks } from '../chunks.js'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const NEWLINE = Buffer.from('\n')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
/** How much of a field other than `data` is read; the rest of such a line has no meaning for us. */
const MAX_FIELD = 4_096
/** What `data: ` adds to the length of a line. */
const FIELD_NAME = 6

/** An event of a stream; `type` is `message` unless the stream says otherwise. */
export interface SseEvent { readonly type: string, readonly data: Buffer }

/**
 * Cuts the bytes of an event stream into events, however they arrive. An event over `maxEvent` bytes is reported once, with the data read so
 * far, and skipped up to its end. An event without data is not reported, but its id counts.
 */
export class SseReader {
  /** The id to resume after; undefined where the stream gave none. */
  lastEventId: string | undefined
  /** How long to wait before connecting again, in milliseconds, where the stream says so. */
  retry: number | undefined
  readonly #maxEvent: number
  readonly #onEvent: (event: SseEvent) => void
  readonly #onTooLong: (head: Buffer) => void
  readonly #line = new Chunks()
  readonly #data = new Chunks()
  #type = ''
  #hasData = false
  #isFirstLine = true
  #afterReturn = false
  #skipping = false

  constructor (maxEvent: number, onEvent: (event: SseEvent) => void, onTooLong: (head: Buffer) => void) {
    this.#maxEvent = maxEvent
    this.#onEvent = onEvent
    this.#onTooLong = onTooLong
  }

  /** The chunk may be kept: it must not be written to afterwards. */
  push (chunk: Buffer): void {
    let start = this.#afterReturn && chunk[0] === LF ? 1 : 0
    if (chunk.length > 0) this.#afterReturn = false
    // Each kind of line end is searched once per chunk and occurrence, so that the cost is linear.
    let lf = chunk.indexOf(LF, start)
    let cr = chunk.indexOf(CR, start)
    while (lf !== -1 || cr !== -1) {
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
  }

  #addToLine (part: Buffer): void {
    if (!this.#skipping) {
      this.#line.add(part)
      if (this.#data.size + this.#line.size <= this.#maxEvent + FIELD_NAME) return
      this.#skip(this.#data.size > 0 ? this.#data.take() : this.#line.take())
    }
    // While an event is skipped, a line is only known to be empty or not.
    if (this.#line.size === 0) this.#line.add(part.subarray(0, 1))
  }

  #endLine (rest: Buffer): void {
    if (this.#line.size > 0) this.#addToLine(rest)
    const line = this.#line.size > 0 ? this.#line.take() : rest
    if (line.length === 0) this.#endEvent()
    else if (!this.#skipping) this.#field(this.#isFirstLine && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line)
    this.#isFirstLine = false
  }

  #field (line: Buffer): void {
    const colon = line.indexOf(COLON)
    if (colon === 0 || line.length === 0) return
    const name = line.toString('latin1', 0, colon === -1 ? Math.min(line.length, MAX_FIELD) : Math.min(colon, MAX_FIELD))
    const from = colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1
    if (name === 'data') this.#addData(line.subarray(from))
    else this.#set(name, line.toString('utf8', from, Math.min(line.length, from + MAX_FIELD)))
  }

  #set (name: string, value: string): void {
    if (name === 'event') this.#type = value
    else if (name === 'id' && value.length < MAX_FIELD && !value.includes('\0')) this.lastEventId = value === '' ? undefined : value
    else if (name === 'retry' && /^\d{1,15}$/.test(value)) this.retry = Number(value)
  }

  #addData (value: Buffer): void {
    if (this.#hasData) this.#data.add(NEWLINE)
    this.#hasData = true
    if (value.length > 0) this.#data.add(value)
    if (this.#data.size > this.#maxEvent) this.#skip(this.#data.take())
  }

  #skip (head: Buffer): void {
    this.#data.clear()
    this.#line.clear()
    this.#skipping = true
    this.#onTooLong(head)
  }

  #endEvent (): void {
    const type = this.#type
    const data = this.#data.take()
    const isComplete = this.#hasData && !this.#skipping
    this.#type = ''
    this.#hasData = false
    this.#skipping = false
    if (isComplete) this.#onEvent({ type: type === '' ? 'message' : type, data })
  }
}
