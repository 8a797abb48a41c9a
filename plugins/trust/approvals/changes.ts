import type { Values } from '../../../protocol/store.js'

/** Waits for changes of what is stored under one key of some spaces. */
export class Changes {
  readonly #offs: Array<() => void> = []
  readonly #signal: AbortSignal
  #hasChanged = false
  #wake: () => void = () => {}

  constructor (values: Values, spaces: readonly string[], id: string, signal: AbortSignal) {
    const note = (): void => {
      this.#hasChanged = true
      this.#wake()
    }
    this.#signal = signal
    signal.addEventListener('abort', note, { once: true })
    this.#offs.push(
      values.onChange((space, key) => { if (key === id && spaces.includes(space)) note() }),
      values.onMissedChanges(note),
      () => signal.removeEventListener('abort', note)
    )
  }

  /** False where nothing changes within so many milliseconds. */
  async next (ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const isInTime = this.#hasChanged || this.#signal.aborted || await new Promise<boolean>(resolve => {
      this.#wake = () => resolve(true)
      timer = setTimeout(() => resolve(false), ms)
      timer.unref()
    })
    clearTimeout(timer)
    this.#hasChanged = false
    return isInTime
  }

  close (): void {
    for (const off of this.#offs) off()
  }
}
