import { EventEmitter, once } from 'node:events'
import type { FastifyInstance } from 'fastify'

type Action = (argument: Record<string, string>) => unknown

/** Values that the tools of tests share, so that they do the same in several processes as in one. */
export interface Board {
  /** Notes that a moment has come, with a text about it. */
  mark: (moment: string, text?: string) => Promise<void>
  hasCome: (moment: string) => Promise<boolean>
  /** Waits for a moment; settles with its text. */
  wait: (moment: string, signal?: AbortSignal) => Promise<string>
  /** Settles when so many have come to the place; the last one first. Marks `PLACE has N` for each that comes. */
  meet: (place: string, size: number) => Promise<void>
  /** Counts from 1. */
  count: (name: string) => Promise<number>
  /** Defines an action of this process. */
  define: (name: string, action: Action) => void
  /** Runs an action in every process; settles when it is done in all. */
  everywhere: (name: string, argument: Record<string, string>) => Promise<void>
}

/** The board of several processes where the environment names one, else a board of this process. */
export async function boardOf (fastify: FastifyInstance): Promise<Board> {
  const { TEST_BOARD: url } = process.env
  if (url === undefined) return new LocalBoard()
  const { joinBoard } = await import('./shared-board.js')
  return joinBoard(fastify, url)
}

/** A board of one process. */
export class LocalBoard implements Board {
  readonly #moments = new EventEmitter().setMaxListeners(0)
  readonly #past = new Map<string, string>()
  readonly #meetings = new Map<string, Array<() => void>>()
  readonly #counts = new Map<string, number>()
  readonly #actions = new Map<string, Action>()

  async mark (moment: string, text = ''): Promise<void> {
    this.#past.set(moment, text)
    this.#moments.emit(moment)
  }

  async hasCome (moment: string): Promise<boolean> {
    return this.#past.has(moment)
  }

  async wait (moment: string, signal?: AbortSignal): Promise<string> {
    if (!this.#past.has(moment)) await once(this.#moments, moment, signal === undefined ? {} : { signal })
    return this.#past.get(moment) ?? ''
  }

  async meet (place: string, size: number): Promise<void> {
    const waiting = this.#meetings.get(place) ?? []
    this.#meetings.set(place, waiting)
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      void this.mark(`${place} has ${waiting.length}`)
      if (waiting.length === size) for (const leave of waiting.reverse()) leave()
    })
  }

  async count (name: string): Promise<number> {
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    return count
  }

  define (name: string, action: Action): void {
    this.#actions.set(name, action)
  }

  async everywhere (name: string, argument: Record<string, string>): Promise<void> {
    await this.#actions.get(name)?.(argument)
  }
}
