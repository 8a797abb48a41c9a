import { setTimeout as sleep } from 'node:timers/promises'
import { postHead } from '../support/http-requests.js'
import { request, type Head } from '../support/http-client.js'
import { call } from '../support/messages.js'
import { Line } from './line.js'

/**
 * How many numbers are sent in one turn: what is sent while no client is connected has to fit into the stored events.
 */
const PER_TURN = 10
const TIMEOUT = 120_000

/** Reads one stream over many connections, to one gateway after the other; each goes on where the last one was cut. */
export class CutStream {
  readonly numbers: number[] = []
  cuts = 0
  answered = false
  /** How often a connection was refused for the time being. */
  refused = 0
  /** How many events of another stream came. */
  foreign = 0
  /** How often an event came again that had no id the first time, so that the client could not resume after it. */
  repeated = 0
  readonly #withoutId = new Set<number>()
  readonly #ports: number[]
  readonly #head: Head
  readonly #opening: string | undefined
  #lastId: string | undefined
  #connections = 0

  /** With an opening the stream is the reply to it. */
  constructor (ports: number[], session: string, opening?: string) {
    this.#ports = ports
    this.#head = [['Mcp-Session-Id', session]]
    this.#opening = opening
  }

  async read (events: number, cuts: number): Promise<void> {
    const end = Date.now() + TIMEOUT
    while (!this.#complete(events) && Date.now() < end) {
      const [rest, cutsLeft] = [events - this.numbers.length, cuts - this.cuts]
      // An event is left for each of the cuts to come.
      const most =
        cutsLeft > 0 ? Math.min(rest - cutsLeft, Math.ceil((Math.random() * 2 * rest) / (cutsLeft + 1))) : Infinity
      await this.#readSome(Math.max(1, most), events)
    }
  }

  verdict (events: number): { lost: number, double: number, outOfOrder: number } {
    const different = new Set(this.numbers).size
    const outOfOrder = this.numbers.filter(
      (number, index) => index > 0 && number !== (this.numbers[index - 1] ?? 0) + 1
    ).length
    return { lost: events - different, double: this.numbers.length - different, outOfOrder }
  }

  #complete (events: number): boolean {
    return this.numbers.length >= events && (this.#opening === undefined || this.answered)
  }

  /** One connection, until so many events were read; the rest of what arrived is thrown away with it. */
  async #readSome (most: number, events: number): Promise<void> {
    const port = this.#ports[this.#connections++ % this.#ports.length] ?? 0
    const line = await Line.open(port)
    line.send(this.#request(port))
    const head = await line.until('\r\n\r\n')
    if (!head.startsWith('HTTP/1.1 200')) return await this.#onRefusal(line, head)
    try {
      for (let count = 0; count < most && !this.#complete(events);) count += this.#take(await line.until('\n\n'))
    } catch {
      // It ended by itself, as a reply does.
    }
    if (!this.#complete(events)) this.cuts++
    line.reset()
  }

  /** 204 is the end of a reply. */
  async #onRefusal (line: Line, head: string): Promise<void> {
    line.socket.destroy()
    if (!/^HTTP\/1.1 (?:503|204)/.test(head)) throw new Error(`${head.split('\r\n')[0]} after ${this.#lastId}`)
    this.refused++
    await sleep(50)
  }

  #request (port: number): Buffer {
    if (this.#opening !== undefined && this.#lastId === undefined) {
      return request('POST', '/mcp', postHead(port, this.#head), this.#opening)
    }
    const after: Head = this.#lastId === undefined ? [] : [['Last-Event-ID', this.#lastId]]
    return request('GET', '/mcp', [['Host', 'localhost'], ['Accept', 'text/event-stream'], ...this.#head, ...after])
  }

  #take (block: string): number {
    const id = /^id: (\S+)/m.exec(block)?.[1]
    const [, kind, number] = /"(data|progress)":(\d+)/.exec(block) ?? []
    if (id !== undefined) this.#lastId = id
    if (/"result"/.test(block)) this.answered = true
    if (number === undefined) return 0
    if (kind !== (this.#opening === undefined ? 'data' : 'progress')) this.foreign++
    if (this.#withoutId.delete(Number(number))) {
      this.repeated++
      return 0
    }
    if (id === undefined) this.#withoutId.add(Number(number))
    this.numbers.push(Number(number))
    return 1
  }
}

/** A call that sends so many numbers, as its own progress or to the session; both may be made at once. */
export const numbers = (count: number, own: boolean, perTurn = PER_TURN): string => {
  const text = call('tools/call', {
    name: 'chaos_numbers',
    arguments: { count, perTurn, own },
    ...(own ? { _meta: { progressToken: 'p' } } : {})
  })('legacy')
  return JSON.stringify({ ...JSON.parse(text) as object, id: own ? 'own' : 'session' })
}
