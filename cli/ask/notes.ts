import type { Params } from '../../protocol/wire/jsonrpc.js'
import { fitted, shown, shownInLine } from './terminal.js'

/** The part of standard error that is used. */
export interface NoteStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write (text: string): unknown
}

/** The width of a bar, and of a terminal that does not tell its own. */
const BAR = 24
const COLUMNS = 80

/** Lines for people on standard error, and the progress bar below them, which a terminal alone gets. */
export class Notes {
  readonly #stream: NoteStream
  #bar = ''
  #held: string[] | undefined
  /** Takes log messages of the server, in place of a line here. */
  onLog: ((params: Params) => void) | undefined

  constructor (stream: NoteStream) {
    this.#stream = stream
  }

  /** Writes a line, with what a terminal would obey made visible. */
  say (line: string): void {
    if (this.#held !== undefined) {
      this.#held.push(line)
      return
    }
    const bar = this.#bar
    this.clear()
    this.#stream.write(`${shown(line)}\n`)
    this.#draw(bar)
  }

  /** A log message of the server. */
  log (params: Params): void {
    if (this.onLog === undefined) this.say(logLine(params))
    else this.onLog(params)
  }

  progress ({ progress, total, message }: Params): void {
    if (this.#stream.isTTY !== true || this.#held !== undefined) return
    const words = typeof message === 'string' ? ` ${shownInLine(message)}` : ''
    this.clear()
    this.#draw(fitted(`${measure(progress, total)}${words}`, (this.#stream.columns ?? COLUMNS) - 1))
  }

  /** Writes nothing while the user is asked; the lines of meanwhile come with `release`. */
  hold (): void {
    this.clear()
    this.#held = []
  }

  release (): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const line of held) this.say(line)
  }

  /** Takes the bar away. */
  clear (): void {
    if (this.#bar === '') return
    this.#bar = ''
    this.#stream.write('\r\u001b[K')
  }

  #draw (bar: string): void {
    this.#bar = bar
    if (bar !== '') this.#stream.write(bar)
  }
}

/** A log message in one line. */
export function logLine ({ level, logger, data }: Params): string {
  const from = typeof logger === 'string' && logger !== '' ? `${logger}: ` : ''
  const text = typeof data === 'string' ? data : JSON.stringify(data) ?? ''
  return shownInLine(`[${typeof level === 'string' ? level : 'info'}] ${from}${text}`)
}

function measure (progress: unknown, total: unknown): string {
  if (typeof progress !== 'number') return '…'
  if (typeof total !== 'number' || !(total > 0)) return `${progress}`
  const part = Math.min(1, Math.max(0, progress / total))
  const full = Math.round(part * BAR)
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${Math.floor(part * 100)} %`
}
