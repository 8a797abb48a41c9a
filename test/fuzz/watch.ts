import type { Fault } from './oracle.js'

const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Number.prototype,
  Promise.prototype,
  Map.prototype,
  Set.prototype
]

/** Sees what no single conversation shows: uncaught errors, and prototypes that changed. */
export class Watch {
  readonly #before = PROTOTYPES.map(described)
  readonly #uncaught: unknown[] = []
  readonly #note = (error: unknown) => { this.#uncaught.push(error) }
  readonly #events: Array<'uncaughtException' | 'uncaughtExceptionMonitor' | 'unhandledRejection'>

  /** `survives` keeps the process alive after an uncaught error. */
  constructor (survives: boolean) {
    this.#events = [survives ? 'uncaughtException' : 'uncaughtExceptionMonitor', 'unhandledRejection']
    for (const event of this.#events) process.on(event, this.#note)
  }

  /** What happened since it was last asked. */
  take (): Fault[] {
    const uncaught = this.#uncaught
      .splice(0)
      .map((error): Fault => ({
        kind: 'uncaught',
        text: error instanceof Error ? (error.stack ?? error.message) : String(error)
      }))
    const changed = PROTOTYPES.filter((prototype, index) => described(prototype) !== this.#before[index])
    for (const prototype of changed) restore(prototype, this.#before[PROTOTYPES.indexOf(prototype)] as string)
    return [
      ...uncaught,
      ...changed.map((prototype): Fault => ({
        kind: 'prototype',
        text: `${prototype.constructor.name}.prototype was changed`
      }))
    ]
  }

  /** Leaves everything as it was found. */
  stop (): void {
    this.take()
    for (const event of this.#events) process.off(event, this.#note)
  }
}

const described = (prototype: object): string => Reflect.ownKeys(prototype).map(String).join()

function restore (prototype: object, before: string): void {
  const keys = new Set(before.split(','))
  for (const key of Reflect.ownKeys(prototype)) if (!keys.has(String(key))) Reflect.deleteProperty(prototype, key)
}
