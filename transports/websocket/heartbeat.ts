import type { WebSocket } from '@fastify/websocket'

/** Pings the client at every interval, and terminates the socket when nothing came back in one. */
export class Heartbeat {
  readonly #socket: WebSocket
  readonly #isPaused: () => boolean
  readonly #onDead: () => void
  readonly #timer: NodeJS.Timeout
  #alive = true

  /**
   * While `isPaused`, nothing is read from the socket, so that a missing pong means nothing. `onDead` runs before the
   * socket is terminated.
   */
  constructor (socket: WebSocket, interval: number, isPaused: () => boolean, onDead: () => void = () => {}) {
    this.#socket = socket
    this.#isPaused = isPaused
    this.#onDead = onDead
    this.#timer = setInterval(() => this.#check(), interval).unref()
  }

  /** Something came from the client. */
  beat (): void {
    this.#alive = true
  }

  stop (): void {
    clearInterval(this.#timer)
  }

  #cut (): void {
    this.#onDead()
    this.#socket.terminate()
  }

  #check (): void {
    if (this.#isPaused()) return
    if (this.#alive) {
      this.#alive = false
      this.#socket.ping()
    } else {
      // After a long turn the timer runs before the pong is read from the socket: wait for the poll phase.
      setImmediate(() => { if (!this.#alive) this.#cut() })
    }
  }
}
