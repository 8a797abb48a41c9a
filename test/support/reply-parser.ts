export interface Reply {
  /** 0 when the connection was closed without a reply, -1 when what came is not HTTP. */
  status: number
  /** The last of each name, in small letters. */
  headers: Map<string, string>
  body: string
  /** False when the connection ended, or was left, before the end of the reply. */
  whole: boolean
}

interface Head extends Pick<Reply, 'status' | 'headers'> {
  headerLines: Array<[name: string, value: string]>
}

export interface ReplyOptions {
  /** No body follows, whatever the headers are: the reply to HEAD. */
  bodiless?: boolean
  /** `100 Continue` is not the reply but comes before it. */
  skipsContinue?: boolean
  onHead?: (head: Head) => void
  /** Called with each part of the body; true when no more of it is wanted. */
  onBody?: (part: Buffer) => boolean
  /** False when the body is not needed afterwards. */
  keepsBody?: boolean
}

/** Reads one HTTP reply from the bytes of a connection, as they come. */
export class ReplyParser {
  /** True when nothing more of this reply is waited for. */
  done = false
  readonly #options: ReplyOptions
  #unread: Buffer = Buffer.alloc(0)
  #head: Head | undefined
  #body: Buffer[] = []
  #whole = false

  constructor (options: ReplyOptions = {}) {
    this.#options = options
  }

  get hasHead (): boolean {
    return this.#head !== undefined
  }

  get reply (): Reply {
    const { status, headers } = this.#head ?? { status: 0, headers: new Map<string, string>() }
    return { status, headers, body: this.bytes.toString(), whole: this.#whole }
  }

  /** Every header line, also where a name comes twice. */
  get headerLines (): Head['headerLines'] {
    return this.#head?.headerLines ?? []
  }

  /** The body as it came. */
  get bytes (): Buffer {
    return this.#body.length === 1 ? this.#body[0] as Buffer : Buffer.concat(this.#body)
  }

  /** Bytes that came behind the reply. */
  get rest (): Buffer {
    return this.#unread
  }

  /** True when the connection can carry another request. */
  get reusable (): boolean {
    return (
      this.#whole &&
      this.#unread.length === 0 &&
      this.#head?.headers.get('connection') !== 'close' &&
      this.#head?.status !== 101
    )
  }

  push (chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk])
    if (this.#head === undefined) this.#readHead()
    if (this.#head !== undefined && !this.done) this.#readBody(this.#head)
  }

  /** The connection has ended. */
  end (): void {
    if (this.#head === undefined && this.#unread.length > 0) this.#head = parseHead(this.#unread.toString('latin1'))
    this.done = true
  }

  #readHead (): void {
    const end = this.#unread.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = parseHead(this.#unread.toString('latin1', 0, end))
    this.#unread = this.#unread.subarray(end + 4)
    if (head.status === 100 && this.#options.skipsContinue === true) return this.#readHead()
    this.#head = head
    this.#options.onHead?.(head)
  }

  #readBody ({ status, headers }: Head): void {
    if (this.#options.bodiless === true || status === 101 || status === 204) return this.#finish()
    if (headers.get('transfer-encoding') === 'chunked') return this.#readChunks()
    const length = Number(headers.get('content-length') ?? 0)
    if (this.#unread.length < length) return
    if (length > 0) this.#take(0, length, length)
    this.#finish()
  }

  #readChunks (): void {
    for (let line = this.#unread.indexOf('\r\n'); line !== -1 && !this.done; line = this.#unread.indexOf('\r\n')) {
      const size = parseInt(this.#unread.toString('latin1', 0, line), 16)
      const start = line + 2
      if (this.#unread.length < start + size + 2) return
      if (size > 0) this.#take(start, start + size, start + size + 2)
      else {
        this.#unread = this.#unread.subarray(start + 2)
        this.#finish()
      }
    }
  }

  #take (start: number, end: number, next: number): void {
    const part = this.#unread.subarray(start, end)
    this.#unread = this.#unread.subarray(next)
    if (this.#options.keepsBody !== false) this.#body.push(part)
    if (this.#options.onBody?.(part) === true) this.done = true
  }

  #finish (): void {
    this.#whole = true
    this.done = true
  }
}

function parseHead (text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const headerLines = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(/^HTTP\/1\.1 (\d{3})\b/.exec(first)?.[1] ?? -1), headers: new Map(headerLines), headerLines }
}
