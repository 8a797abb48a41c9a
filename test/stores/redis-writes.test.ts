import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { OrderedWrites } from '../../stores/redis/ordered-writes.js'
import { within } from '../support/wait.js'

/** Numbers that look random, the same for the same seed. */
function random (seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 2_147_483_648
  }
}

/**
 * A server that makes writes as the scripts do, and a connection to it that fails now and then: before a write was
 * made, or after it.
 */
class FakeServer {
  readonly made: string[] = []
  isReady = true
  #latest = 0
  readonly #random: () => number
  readonly #failures: number

  constructor (random: () => number, failures: number) {
    this.#random = random
    this.#failures = failures
  }

  send (text: string): (number: string, previous: string) => Promise<unknown> {
    return async (number, previous) => {
      if (!this.isReady) throw new Error('offline')
      const fate = this.#random()
      if (fate < this.#failures / 2) return await this.#fail()
      await this.#delay()
      const reply = this.#make(text, Number(number), Number(previous))
      await this.#delay()
      return fate < this.#failures ? await this.#fail() : reply
    }
  }

  #make (text: string, number: number, previous: number): string {
    if (this.#latest < previous) return 'early'
    if (number > this.#latest) this.made.push(text)
    this.#latest = Math.max(number, this.#latest)
    return `made ${text}`
  }

  async #delay (): Promise<void> {
    for (let turns = Math.floor(this.#random() * 3); turns > 0; turns--) await turn()
  }

  async #fail (): Promise<never> {
    this.isReady = false
    setTimeout(() => { this.isReady = true }, 5)
    throw new Error('the connection was lost')
  }
}

t.test(
  'writes are made once and in order, whatever happens to the connection',
  async t =>
    await within(60_000, async () => {
      // The timers of the writes keep nothing alive.
      const alive = setInterval(() => {}, 1_000)
      t.teardown(() => clearInterval(alive))
      await Promise.all(Array.from({ length: 100 }, async (_, index) => await series(331 * index + 17)))

      async function series (seed: number): Promise<void> {
        const next = random(seed)
        const server = new FakeServer(next, 0.05)
        const writes = new OrderedWrites(() => server.isReady)
        const texts = Array.from({ length: 200 }, (_, index) => String(index))
        const replies: Array<Promise<unknown>> = []
        for (const text of texts) {
          replies.push(writes.write('s', server.send(text), text.length, 30_000))
          if (next() < 0.5) await turn()
        }
        t.strictSame(
          await Promise.all(replies),
          texts.map(text => `made ${text}`),
          `replies of seed ${seed}`
        )
        t.strictSame(server.made, texts, `order of seed ${seed}`)
      }
    })
)

t.test('a write that the server refuses does not hold up the next ones', async t => {
  const writes = new OrderedWrites(() => true)
  const refused = writes.write('s', async () => { throw new Error('OOM') }, 1, 10_000)
  const next = writes.write('s', async () => 'made', 1, 10_000)
  await t.rejects(refused, { message: 'OOM' })
  t.equal(await next, 'made')
})

t.test(
  'a write is given up when the server stays away, and what waits has a limit',
  async t =>
    await within(60_000, async () => {
      const writes = new OrderedWrites(() => false)
      const offline = async (): Promise<never> => {
        throw new Error('offline')
      }
      const large = 40 * 1_048_576
      const waiting = writes.write('s', offline, large, 50)
      await t.rejects(writes.write('t', offline, large, 50), { message: /too many events wait for Redis/ })
      await t.rejects(waiting, { message: /Redis does not answer/ })
    })
)
