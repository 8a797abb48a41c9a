import type { Channel } from './channel.js'

/** Gathers the answers to a batch, in the order of its messages, and sends them as one array when the last is there. */
export class BatchChannel {
  readonly #channel: Channel
  readonly #answers: Array<string | undefined>
  #waiting: number

  constructor (channel: Channel, size: number) {
    this.#channel = channel
    this.#answers = new Array<string | undefined>(size)
    this.#waiting = size
  }

  slot (index: number): Channel {
    return {
      streams: this.#channel.streams,
      respond: text => this.#settle(index, text),
      end: () => this.#settle(index, undefined),
      emit: (text, method) => this.#channel.emit(text, method)
    }
  }

  #settle (index: number, text: string | undefined): void {
    this.#answers[index] = text
    if (--this.#waiting > 0) return
    const answers = this.#answers.filter(answer => answer !== undefined)
    if (answers.length === 0) this.#channel.end()
    else this.#channel.respond(`[${answers.join(',')}]`, 200)
  }
}
