import { openSession, post, postHead } from '../support/http-requests.js'
import { call, initialize } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { Gateway } from './gateway.js'
import { Line } from './line.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

/** How many numbers are sent in one turn: what is sent while no client is connected has to fit into the stored events. */
const PER_TURN = 10
const TIMEOUT = 120_000

/** Streams that are cut again and again while many events are sent: nothing is lost, doubled or reordered. */
export const cuts = scenario({ events: 10_000, cuts: 200 }, async ({ events, cuts }) => {
  const report = new Report(`cuts: ${events} events on a stream that is cut ${cuts} times`)
  const gateway = await Gateway.start()
  for (const own of [false, true]) {
    const session = await openSession(gateway.port, initialize())
    const stream = own ? new CutStream(gateway.port, session, numbers(events, true)) : new CutStream(gateway.port, session)
    const reading = stream.read(events, cuts)
    if (!own) await post(gateway.port, '/mcp', numbers(events, false), [['Mcp-Session-Id', session]])
    const begun = performance.now()
    await reading
    const lost = events - new Set(stream.numbers).size
    const outOfOrder = stream.numbers.filter((number, index) => index > 0 && number !== (stream.numbers[index - 1] ?? 0) + 1).length
    report.row({ stream: own ? 'a reply' : 'of the session', events: stream.numbers.length, cuts: stream.cuts, lost, double: stream.numbers.length - new Set(stream.numbers).size, 'out of order': outOfOrder, seconds: (performance.now() - begun) / 1000 })
    report.promise(lost === 0, `no event is lost, not ${lost}`)
    report.promise(stream.numbers.length === events && outOfOrder === 0, 'every event comes once and in order')
    report.promise(stream.cuts >= cuts, `the stream is cut ${cuts} times, not ${stream.cuts}`)
    report.promise(!own || stream.answered, 'the reply is answered in the end')
  }
  report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
  await gateway.end()
  return report
})

/** Reads one stream over many connections; each goes on where the last one was cut. */
class CutStream {
  readonly numbers: number[] = []
  cuts = 0
  answered = false
  readonly #port: number
  readonly #head: Head
  readonly #opening: string | undefined
  #lastId: string | undefined

  /** With an opening the stream is the reply to it. */
  constructor (port: number, session: string, opening?: string) {
    this.#port = port
    this.#head = [['Mcp-Session-Id', session]]
    this.#opening = opening
  }

  async read (events: number, cuts: number): Promise<void> {
    const end = Date.now() + TIMEOUT
    const perCut = events / (cuts + 1)
    while (!this.#complete(events) && Date.now() < end) {
      const most = this.cuts < cuts ? Math.ceil(Math.random() * 2 * perCut * (events - this.numbers.length) / Math.max(1, events - perCut * this.cuts)) : Infinity
      await this.#readSome(Math.max(1, most), events)
    }
  }

  #complete (events: number): boolean {
    return this.numbers.length >= events && (this.#opening === undefined || this.answered)
  }

  /** One connection, until so many events were read; the rest of what arrived is thrown away with it. */
  async #readSome (most: number, events: number): Promise<void> {
    const line = await Line.open(this.#port)
    line.send(this.#request())
    const head = await line.until('\r\n\r\n')
    if (!/^HTTP\/1.1 200/.test(head)) {
      line.socket.destroy()
      throw new Error(head)
    }
    try {
      for (let count = 0; count < most && !this.#complete(events);) count += this.#take(await line.until('\n\n'))
    } catch {
      // It ended by itself, as a reply does.
    }
    if (!this.#complete(events)) this.cuts++
    line.reset()
  }

  #request (): Buffer {
    if (this.#opening !== undefined && this.#lastId === undefined) return request('POST', '/mcp', postHead(this.#port, this.#head), this.#opening)
    const after: Head = this.#lastId === undefined ? [] : [['Last-Event-ID', this.#lastId]]
    return request('GET', '/mcp', [['Host', 'localhost'], ['Accept', 'text/event-stream'], ...this.#head, ...after])
  }

  #take (block: string): number {
    const id = /^id: (\S+)/m.exec(block)?.[1]
    const number = /"(?:data|progress)":(\d+)/.exec(block)?.[1]
    if (id !== undefined) this.#lastId = id
    if (/"result"/.test(block)) this.answered = true
    if (number === undefined) return 0
    this.numbers.push(Number(number))
    return 1
  }
}

const numbers = (count: number, own: boolean): string =>
  call('tools/call', { name: 'chaos_numbers', arguments: { count, perTurn: PER_TURN, own }, ...(own ? { _meta: { progressToken: 'p' } } : {}) })('legacy')
