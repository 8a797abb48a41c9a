import type { Call } from '../dispatch/call.js'
import type { CallOutcome } from '../dispatch/call-response.js'
import { methodOf, type Subject } from '../dispatch/call-facts.js'
import type { Activity } from './activities.js'
import type { Row } from './row.js'

/** How many calls are kept for a watcher that comes. */
const KEPT = 1_000

/** A call that has ended, without anything that holds its params or its peer. */
interface EndedCall {
  at: number
  ms: number
  method: string | undefined
  subject: Subject
  outcome: string
  code: number | undefined
  principal: string | undefined
  client: string | undefined
  transport: string
  revision: string
  /** Its client, if that stays. */
  owner: Activity | undefined
}

/** Facts that are found out about a call once; `client` is the name of its client. */
type Observed = Pick<EndedCall, 'at' | 'ms' | 'subject' | 'outcome' | 'client' | 'owner'>

/** The calls that ended last. Each takes the place of an older one, so that none of them makes work for the garbage collector later. */
export class EndedCalls {
  readonly #kept: EndedCall[] = []
  /** How many have ended. */
  count = 0

  add (call: Call, ended: CallOutcome, { at, ms, subject, outcome, client, owner }: Observed): void {
    const place = this.count++ % KEPT
    const kept = this.#kept[place]
    if (kept === undefined) {
      this.#kept.push({ at, ms, method: methodOf(call, ended, subject), subject, outcome, code: ended.code, principal: call.principal, client, transport: call.peer.transport, revision: call.revision.version, owner })
      return
    }
    kept.at = at
    kept.ms = ms
    kept.method = methodOf(call, ended, subject)
    kept.subject = subject
    kept.outcome = outcome
    kept.code = ended.code
    kept.principal = call.principal
    kept.client = client
    kept.transport = call.peer.transport
    kept.revision = call.revision.version
    kept.owner = owner
  }

  /** Calls from that number on, oldest first, at most as many, and no older ones than are kept. */
  rowsFrom (number: number, most: number): Row[] {
    const first = Math.max(number, this.count - Math.min(most, KEPT))
    return Array.from({ length: Math.max(0, this.count - first) }, (_, index) => rowOf(this.#kept[(first + index) % KEPT] as EndedCall))
  }
}

function rowOf ({ at, ms, subject: { tool, prompt, resource, upstream }, owner, ...rest }: EndedCall): Row {
  return { json: JSON.stringify({ at: Math.round(at), ms: Math.round(ms * 1000) / 1000, tool, prompt, resource, upstream, ...rest }), owner }
}
