import { setTimeout as sleep } from 'node:timers/promises'
import { Caller } from './caller.js'
import { asking, inSession, modern, streamed, type Kind } from './calls.js'
import type { Cluster } from './cluster.js'
import { Listener } from './listener.js'
import { SocketCaller } from './sockets.js'
import type { Tally } from './tally.js'

const PAUSE = 20
const KINDS: Kind[] = [modern, modern, inSession, streamed, asking]

/** Clients of every kind that call as long as they are wanted. */
export class Traffic {
  readonly #cluster: Cluster
  readonly #tally: Tally
  readonly #callers: Caller[] = []
  readonly #listeners: Listener[] = []
  readonly #sockets: SocketCaller[] = []
  readonly #loops: Array<Promise<void>> = []
  #isOver = false

  constructor (cluster: Cluster, tally: Tally) {
    this.#cluster = cluster
    this.#tally = tally
  }

  /** Begins with so many clients of each kind. */
  start (each: number): void {
    for (let index = 0; index < each; index++) {
      for (const kind of KINDS) this.#repeat(async caller => await kind(caller))
      const [listener, socket] = [new Listener(this.#cluster, this.#tally), new SocketCaller(this.#caller())]
      this.#listeners.push(listener)
      this.#sockets.push(socket)
      this.#repeat(async () => await listener.say())
      this.#repeat(async () => await socket.call())
    }
  }

  async stop (): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#loops)
    await Promise.all(this.#listeners.map(async listener => await listener.end()))
    for (const socket of this.#sockets) socket.close()
    for (const { wire } of this.#callers) wire.close()
  }

  #caller (): Caller {
    const caller = new Caller(this.#cluster, this.#tally)
    this.#callers.push(caller)
    return caller
  }

  #repeat (call: (caller: Caller) => Promise<void>): void {
    const caller = this.#caller()
    const loop = async (): Promise<void> => {
      while (!this.#isOver) {
        await call(caller)
        await sleep(PAUSE)
      }
    }
    this.#loops.push(loop())
  }
}
