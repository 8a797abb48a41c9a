import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createClient, type Client, type Options } from '../../../app.js'
import fixture, { listening } from '../../support/gateway.js'
import { modern } from '../../support/specification/revisions.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { openFixture } from '../fixture/open.js'
import { cpuTimeOf } from '../../support/timing.js'

const MiB = 1024 * 1024
const MOST = 150 * MiB

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export interface Scene {
  readonly app: FastifyInstance
  readonly client: Client
  /**
   * Ends the watch: says how much of the processor was used at most while one of the others waited, and how much memory
   * was in use.
   */
  readonly check: () => Promise<void>
}

/** A gateway with the server under test, a healthy one, and a local tool; the last two are called all the time. */
export async function withBystanders (t: Test, bad: object, options: Partial<Options> = {}): Promise<Scene> {
  const { server, entry } = await openFixture(t, 'HTTP', modern, 'good')
  const { app } = await listening(t, { plugins: [fixture], tools: false, ...options, mcpServers: { bad, good: entry } })
  await upstreamsReady(app, ['good'])
  const client = await createClient(app)
  const watch = new Watch(client)
  return {
    app,
    client,
    check: async () => {
      const { busiest, calls, grown } = await watch.end()
      t.comment(
        `${calls} calls of others, at most ${Math.round(busiest)} ms of the processor during one, memory +${Math.round(grown / MiB)} MiB`
      )
      t.ok(calls > 0 && busiest < 5_000, `a call of others waited for ${Math.round(busiest)} ms of work`)
      t.ok(grown < MOST, `memory grew by ${Math.round(grown / MiB)} MiB`)
      t.strictSame(server.log.faults, [], 'the healthy server saw nothing odd')
    }
  }
}

/** Calls the healthy server and the local tool until it is ended. */
class Watch {
  readonly #client: Client
  readonly #begin = memory()
  readonly #done: Promise<void>
  #ended = false
  #busiest = 0
  #calls = 0
  #most = 0

  constructor (client: Client) {
    this.#client = client
    this.#done = this.#run()
    // The gateway of a test that failed closes before the watch ends.
    this.#done.catch(() => {})
  }

  async end (): Promise<{ busiest: number, calls: number, grown: number }> {
    this.#ended = true
    await this.#done
    return { busiest: this.#busiest, calls: this.#calls, grown: this.#most - this.#begin }
  }

  async #run (): Promise<void> {
    while (!this.#ended || this.#calls < 4) {
      for (const name of ['echo', 'good__echo']) {
        const busy = await cpuTimeOf(
          async () => await this.#client.request('tools/call', { name, arguments: { text: 'still here' } })
        )
        this.#busiest = Math.max(this.#busiest, busy)
        this.#most = Math.max(this.#most, kept(this.#begin))
        this.#calls++
      }
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
}

/** What is in use, without garbage when it is much more than at the beginning. */
function kept (begin: number): number {
  if (memory() - begin > MOST / 2) collect()
  return memory()
}

function memory (): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
