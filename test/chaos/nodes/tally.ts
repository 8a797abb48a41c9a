/**
 * The outcome of a call. `refused` is 503, `gone` is 404, `cut` the end of its connection, `lost` no answer in time.
 */
export type Outcome = 'right' | 'refused' | 'gone' | 'failed' | 'cut' | 'lost' | 'wrong'

export const OUTCOMES: Outcome[] = ['right', 'refused', 'gone', 'failed', 'cut', 'lost', 'wrong']

const SAMPLES = 3

/** What became of all calls of a scenario, and of all events. */
export class Tally {
  /** The longest that a call of the newest revision waited at a node that was not harmed, in milliseconds. */
  longest = 0
  /** Numbers that two events of a stream had. */
  twice = 0
  readonly events = { heard: 0, lost: 0, doubled: 0, disordered: 0 }
  /** The first things that went wrong, by what they were. */
  readonly samples = new Map<string, string[]>()
  readonly #counts = new Map<string, number>()
  readonly #numbers = new Map<string, string>()

  note (kind: string, outcome: Outcome, sample = ''): void {
    const name = `${kind} ${outcome}`
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    if (outcome !== 'right') this.sample(name, sample)
  }

  /** Looks whether an event of that id had another text before. */
  identify (session: string, id: string | undefined, text: string): void {
    if (id === undefined) return
    const key = `${session} ${id}`
    const before = this.#numbers.get(key)
    this.#numbers.set(key, text)
    if (before === undefined || before === text) return
    this.twice++
    this.sample('twice', `${id}: ${before} and ${text}`)
  }

  sample (name: string, text: string): void {
    const samples = this.samples.get(name) ?? []
    if (samples.length < SAMPLES) samples.push(text.slice(0, 300))
    this.samples.set(name, samples)
  }

  /** How many calls had this outcome; of one kind, or of all. */
  count (outcome?: Outcome, kind?: string): number {
    return [...this.#counts].reduce((sum, [name, count]) => {
      const [ofKind, ofOutcome] = [name.slice(0, name.lastIndexOf(' ')), name.slice(name.lastIndexOf(' ') + 1)]
      return (outcome === undefined || outcome === ofOutcome) && (kind === undefined || kind === ofKind)
        ? sum + count
        : sum
    }, 0)
  }

  get kinds (): string[] {
    return [...new Set([...this.#counts.keys()].map(name => name.slice(0, name.lastIndexOf(' '))))]
  }
}
