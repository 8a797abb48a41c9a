/** Cuts the text of an event stream into events, and gives the data of those that have some. */
export class EventLines {
  readonly #heard: (data: string) => void
  #text = ''

  constructor (heard: (data: string) => void) {
    this.#heard = heard
  }

  push (text: string): void {
    this.#text += text
    for (let end = this.#text.indexOf('\n\n'); end !== -1; end = this.#text.indexOf('\n\n')) {
      const event = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 2)
      const data = /^data: (.+)$/m.exec(event)?.[1]
      if (data !== undefined) this.#heard(data)
    }
  }
}
