import { createHash } from 'node:crypto'

/**
 * The names of keys and channels. The part in braces decides the slot in a Redis Cluster: all keys that one script uses
 * have the same.
 */
export class Keys {
  readonly #prefix: string

  constructor (prefix: string) {
    this.#prefix = prefix
  }

  values (space: string): string[] {
    const start = `${this.#prefix}{v:${space}}:`
    return [`${start}d`, `${start}o`, `${start}x`]
  }

  session (id: string): string[] {
    return [`${this.#prefix}{s:${id}}`, `${this.#prefix}{s:${id}}:e`]
  }

  /** Which sessions a principal has. */
  principal (name: string): string {
    return `${this.#prefix}{p:${createHash('sha256').update(name).digest('hex')}}`
  }

  get feed (): string {
    return `${this.#prefix}feed`
  }

  lease (node: string): string {
    return `${this.#prefix}node:${node}`
  }

  /** A message that is too long for a channel. */
  message (id: string): string {
    return `${this.#prefix}m:${id}`
  }

  /** The channel of one node. */
  channel (node: string): string {
    return `${this.#prefix}n:${node}`
  }

  /** The channel of all nodes. */
  get all (): string {
    return `${this.#prefix}all`
  }
}
