import type { Subject } from '../dispatch/call-facts.js'
import type { Activity } from './activities.js'
import type * as batch from './batch.js'
import type { Row } from './row.js'

/** How many calls are kept for a watcher that comes. */
const KEPT = 1_000

/** A call that has ended, without anything that holds its params or its peer. */
export interface EndedCall {
  at: number
  ms: number
  method: string | undefined
  subject: Subject
  outcome: string
  /** The name of the rule that decided about it. */
  rule: string | undefined
  code: number | undefined
  principal: string | undefined
  /** The name of its client. */
  client: string | undefined
  transport: string
  revision: string
  /** Its client, if that stays. */
  owner: Activity | undefined
}

/**
 * The calls that ended last. Each takes the place of an older one, so that none of them makes work for the garbage
 * collector later.
 */
export class EndedCalls {
  readonly #kept: EndedCall[] = []
  /** How many have ended. */
  count = 0

  /** The place for one more, which is to be filled at once. */
  next (): EndedCall {
    const place = this.count++ % KEPT
    return (this.#kept[place] ??= {
      at: 0.5,
      ms: 0.5,
      method: undefined,
      subject: {},
      outcome: '',
      rule: undefined,
      code: undefined,
      principal: undefined,
      client: undefined,
      transport: '',
      revision: '',
      owner: undefined
    })
  }

  /** Calls from that number on, oldest first, at most as many, and no older ones than are kept. */
  rowsFrom (number: number, most: number): Row[] {
    const first = Math.max(number, this.count - Math.min(most, KEPT))
    return Array.from({ length: Math.max(0, this.count - first) }, (_, index) =>
      rowOf(this.#kept[(first + index) % KEPT] as EndedCall)
    )
  }
}

function rowOf ({ at, ms, subject: { tool, prompt, resource, upstream }, owner, ...rest }: EndedCall): Row {
  const row: batch.Unwritten<Omit<batch.EndedCall, 'own'>> = {
    at: Math.round(at),
    ms: Math.round(ms * 1000) / 1000,
    tool,
    prompt,
    resource,
    upstream,
    ...rest
  }
  return { json: JSON.stringify(row), owner }
}
