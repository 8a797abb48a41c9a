import type { Case } from './case.js'
import { minimise } from './minimise.js'
import type { Fault } from './oracle.js'
import type { Target } from './target.js'
import { waitLimits } from './waiting.js'
import type { Watch } from './watch.js'

export interface Finding { input: Case, fault: Fault, again: boolean }

const TRIES = 3

/** Tries cases one by one on a target of their own: finds the one that fails, and minimises it. */
export class Suspects {
  readonly #open: () => Promise<Target>
  readonly #watch: Watch
  #target: Target | undefined

  constructor (open: () => Promise<Target>, watch: Watch) {
    this.#open = open
    this.#watch = watch
  }

  /** The finding in its smallest form. */
  async reduce (input: Case, fault: Fault): Promise<Finding> {
    const fails = async (smaller: Case) => (await this.faults(smaller)).some(({ kind }) => kind === fault.kind)
    for (let tries = 0; tries < TRIES; tries++) {
      if (!await fails(input)) continue
      const smallest = await minimise(input, fails)
      const [seen = fault] = (await this.faults(smallest)).filter(({ kind }) => kind === fault.kind)
      return { input: smallest, fault: seen, again: true }
    }
    return { input, fault, again: false }
  }

  /** The case that brings about what was only seen of all of them together. */
  async culprit (inputs: Case[], fault: Fault): Promise<Case | undefined> {
    for (const input of inputs) if ((await this.faults(input)).some(({ kind }) => kind === fault.kind)) return input
    return undefined
  }

  /** Everything that is wrong with one case. */
  async faults (input: Case): Promise<Fault[]> {
    this.#target ??= await this.#open()
    const usual = waitLimits.ms
    waitLimits.ms = waitLimits.alone
    try {
      return await this.#try(this.#target, input)
    } finally {
      waitLimits.ms = usual
    }
  }

  async close (): Promise<void> {
    await this.#target?.close().catch(() => {})
    this.#target = undefined
  }

  async #try (target: Target, input: Case): Promise<Fault[]> {
    const { faults } = await target.run(input)
    await new Promise(resolve => setImmediate(resolve))
    const all = [
      ...faults,
      ...this.#watch.take(),
      ...(target.takeFaults?.() ?? []),
      ...((await target.probe()) ? [] : [{ kind: 'hang', text: 'the next good message is not answered' } as const])
    ]
    if (all.some(({ kind }) => kind === 'hang' || kind === 'died')) await this.close()
    return all
  }
}
