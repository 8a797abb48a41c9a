import { setTimeout as sleep } from 'node:timers/promises'
import { message, resultOf, type Ask, type Era } from './messages.js'
import { ask as askOnce, type Wire } from './wire.js'

/** Every so many answers one is read in full, and so is each that is not as long as the one before. */
const SAMPLE = 512
const DRAIN_TIMEOUT = 30_000

/** Keeps as many requests in flight on each wire as it is told to, and looks at the answers. */
export class Load {
  answered = 0
  /** The first error. */
  fault: Error | undefined
  #inFlight = 0
  #over = false
  readonly #wires: Wire[]

  private constructor (wires: Wire[]) {
    this.#wires = wires
  }

  /** Begins once every wire has answered rightly. Where the wires share a session, no two may have an id in common. */
  static async begin (wires: Wire[], era: Era, asked: Ask, inFlight: number, { shared = false } = {}): Promise<Load> {
    const load = new Load(wires)
    for (const wire of wires) asked.check(await askOnce(wire, message(era, 100, asked.method, asked.params)))
    for (const [index, wire] of wires.entries()) {
      load.#drive(wire, era, asked, inFlight, shared ? 100_000 + 1_000 * index : 100)
    }
    return load
  }

  /** Waits for what is in flight, and closes the wires. */
  async end (): Promise<void> {
    this.#over = true
    const until = Date.now() + DRAIN_TIMEOUT
    while (this.#inFlight > 0 && this.fault === undefined && Date.now() < until) await sleep(5)
    for (const wire of this.#wires) wire.close()
    if (this.#inFlight > 0) this.fault ??= new Error(`${this.#inFlight} requests were never answered`)
    if (this.fault !== undefined) throw this.fault
  }

  #drive (wire: Wire, era: Era, asked: Ask, inFlight: number, first: number): void {
    // All ids are equally long, and so are all answers.
    const ids = Array.from({ length: 2 * inFlight }, (_, index) => first + index)
    const frames = ids.map(id => wire.frame(message(era, id, asked.method, asked.params)))
    let [next, length, seen, free] = [0, 0, 0, 0]
    const send = (count: number): void => {
      this.#inFlight += count
      const batch = Array.from({ length: count }, () => frames[next++ % frames.length] as Buffer)
      wire.write(count === 1 ? batch[0] as Buffer : Buffer.concat(batch))
    }
    wire.onCut = why => { this.fault ??= why }
    wire.onAnswer = (bytes, text) => {
      this.answered++
      this.#inFlight--
      free++
      if (bytes === length && ++seen % SAMPLE !== 0) return
      length = bytes
      this.#read(text, ids, asked)
    }
    wire.onRead = () => {
      const count = free
      free = 0
      if (count > 0 && !this.#over) send(count)
    }
    send(inFlight)
  }

  #read (text: () => string, ids: number[], asked: Ask): void {
    try {
      asked.check(resultOf(text(), ids))
    } catch (error) {
      this.fault ??= error as Error
    }
  }
}
