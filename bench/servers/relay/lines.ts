const NEWLINE = 10

/** Splits what is read into lines; what becomes of those of one read is written at once. */
export class Lines {
  #rest: Buffer[] = []
  readonly #convert: (line: string) => string | undefined
  readonly #write: (text: string) => void

  constructor (convert: (line: string) => string | undefined, write: (text: string) => void) {
    this.#convert = convert
    this.#write = write
  }

  push (chunk: Buffer): void {
    let [start, out] = [0, '']
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line =
        this.#rest.length === 0
          ? chunk.toString('utf8', start, end)
          : String(Buffer.concat([...this.#rest, chunk.subarray(start, end)]))
      this.#rest = []
      start = end + 1
      const converted = this.#convert(line)
      if (converted !== undefined) out += `${converted}\n`
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start))
    if (out !== '') this.#write(out)
  }
}

/** Ids of requests that wait for a response, by the number under which each was sent on. */
export class Renamed<T> {
  readonly #waiting = new Map<number, T>()
  #last = 0

  add (value: T): number {
    this.#waiting.set(++this.#last, value)
    return this.#last
  }

  take (number: number): T | undefined {
    const value = this.#waiting.get(number)
    this.#waiting.delete(number)
    return value
  }
}
