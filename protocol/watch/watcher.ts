import type { Call } from '../dispatch/call.js'
import { ADMIN_SCOPE, grants } from '../wire/identity.js'
import { encodeId } from '../wire/jsonrpc.js'
import { META } from '../wire/meta.js'
import type { Activity } from './activities.js'
import type { BatchMethod } from './batch.js'
import type { EndedCalls } from './ended-calls.js'
import { rowsFor, type Row } from './row.js'
import type { Rates } from './statistics/rates.js'
import type { Tables } from './tables.js'

/** Scopes that a caller needs to watch. */
const SCOPES: readonly string[] = [ADMIN_SCOPE]
/** The most calls in a batch. */
const MOST = 200

const METHOD: BatchMethod = 'notifications/patchbay/watch'

/** The sources of a batch. */
export interface News {
  readonly at: number
  readonly ended: EndedCalls
  readonly rates: Rates
  readonly tables: Tables
  /** The rows of the calls that ended since that number: made once for all watchers that have seen as many. */
  readonly rowsSince: (number: number) => Row[]
}

export interface WatcherOptions {
  /** Rows of this client are marked as the watcher's own. */
  readonly owner: Activity
  /** The members that it wants; all when absent. */
  readonly only: readonly string[] | undefined
  /** Runs when its client does not read any more, or may not. */
  readonly onLost: () => void
}

/** One open call of `patchbay/watch`, and what it was sent. */
export class Watcher {
  readonly call: Call
  readonly #owner: Activity
  readonly #wants: (member: string) => boolean
  /** Calls that ended before it came, oldest first, which are sent first. */
  readonly #earlier: Row[]
  #endedCalls: number
  #seconds = 0
  readonly #sent = new Map<string, string>()
  #lastTables: Tables | undefined
  #opening: string | undefined

  readonly #onLost: () => void

  /** `opening` is the member that only the first batch has, as JSON text. */
  constructor (call: Call, { owner, only, onLost }: WatcherOptions, ended: EndedCalls, opening: string) {
    this.call = call
    this.#owner = owner
    this.#wants = member => only?.includes(member) !== false
    this.#onLost = onLost
    this.#earlier = this.#wants('ended') ? ended.rowsFrom(0, Infinity) : []
    this.#endedCalls = ended.count
    this.#opening = this.#wants('gateway') ? opening : undefined
  }

  /**
   * Sends what has come since the last batch, if there is anything. Nothing while more than `maxQueue` bytes wait to be
   * written, or no stream is free for it.
   */
  send (news: News, maxQueue: number): void {
    const { channel, identity } = this.call
    // The scopes of a key may change while its connection is open.
    if (channel.isDetached?.() === true || !grants(identity, SCOPES)) return this.#onLost()
    if (!channel.streams || (channel.unwritten?.() ?? 0) > maxQueue) return
    const members = [
      ...this.#openingMembers(),
      ...this.#endedMembers(news),
      ...this.#secondMembers(news),
      ...this.#tableMembers(news)
    ]
    if (members.length > 0) this.call.notifyTransient(METHOD, `{${[...this.#heading(news.at), ...members].join(',')}}`)
  }

  #heading (at: number): string[] {
    const id = encodeId(this.call.id)
    return [
      ...(this.call.revision.stateless ? [`"_meta":{"${META.subscription}":${id}}`] : []),
      `"requestId":${id}`,
      `"at":${at}`
    ]
  }

  #openingMembers (): string[] {
    const opening = this.#opening
    this.#opening = undefined
    return opening === undefined ? [] : [opening]
  }

  #endedMembers ({ ended, rowsSince }: News): string[] {
    if (this.#earlier.length > 0) return [`"ended":${rowsFor(this.#earlier.splice(0, MOST), this.#owner)}`]
    const count = ended.count - this.#endedCalls
    if (count === 0 || !this.#wants('ended')) return []
    const rows = rowsSince(this.#endedCalls)
    this.#endedCalls = ended.count
    return [
      `"ended":${rowsFor(rows, this.#owner)}`,
      ...(count > rows.length ? [`"dropped":${count - rows.length}`] : [])
    ]
  }

  #secondMembers ({ rates }: News): string[] {
    if (!this.#wants('seconds')) return []
    const seconds = rates.secondsFrom(this.#seconds)
    this.#seconds = rates.completed
    return seconds.length === 0 ? [] : [`"seconds":${JSON.stringify(seconds)}`]
  }

  #tableMembers ({ tables }: News): string[] {
    if (tables === this.#lastTables) return []
    this.#lastTables = tables
    const changed = tables.for(this.#owner).filter(([name, json]) => this.#wants(name) && this.#sent.get(name) !== json)
    for (const [name, json] of changed) this.#sent.set(name, json)
    return changed.map(([name, json]) => `"${name}":${json}`)
  }
}

/** Makes the rows of the calls that ended since a number, once for each number. */
export function rowsOnce (ended: EndedCalls): News['rowsSince'] {
  const made = new Map<number, Row[]>()
  return number => {
    const rows = made.get(number) ?? ended.rowsFrom(number, MOST)
    made.set(number, rows)
    return rows
  }
}
