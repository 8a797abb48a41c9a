import { batch, signal } from '@preact/signals'
import { isObject, mayWatch, RpcError, type Client, type Json, type JsonObject } from '../client/contract.js'
import { WATCH_BATCH } from '../client/watch-batch.js'

/** A call that waits for an operator, as the gateway shows it. */
export interface Proposal {
  readonly id: string
  /** Tells apart what it would do from everything else: an answer names it. */
  readonly digest: string
  readonly caller: string
  readonly view: string | undefined
  readonly name: string
  readonly method: string
  readonly rule: string
  readonly message: string | undefined
  /** The arguments, as JSON on several lines. */
  readonly arguments: string
  /** The names of those whose value an operator fixed, which is not shown. */
  readonly fixed: readonly string[]
  /** The question that the call asks, where it is answered with a form. */
  readonly form: { readonly message: string, readonly schema: JsonObject } | undefined
  /** By the clock of the gateway, as `expires`. */
  readonly at: number
  readonly expires: number
}

/** A call that waits, or has waited: `ended` says in words what became of it. */
export interface ShownProposal { readonly proposal: Proposal, readonly ended: string | undefined }

export type Decision = 'approve' | 'decline'

/** The calls that wait, and those that did while this page was open, in the order in which they came. */
export const proposals = signal<readonly ShownProposal[]>([])

/** How far the clock of the gateway is ahead of that of this page, in milliseconds. */
export const gatewayAhead = signal(0)

/** Why the calls that wait could not be read; empty when they could. */
export const unreadProposals = signal('')

/** How many that have ended are kept; older ones go first. */
const MAX_ENDED = 50
const GONE = 'It does not wait any more: another operator answered, its time was over, or its client gave up.'
/** JSON-RPC: the gateway knows no such call, or it is not the one that was shown. */
const UNKNOWN = -32602

export const isOpen = ({ proposal, ended }: ShownProposal, now: number): boolean =>
  ended === undefined && proposal.expires > now

/** Forgets all, for another caller. */
export function forgetProposals (): void {
  batch(() => {
    proposals.value = []
    unreadProposals.value = ''
  })
}

/** Removes those that have ended from the page. */
export function clearEnded (now: number): void {
  proposals.value = proposals.value.filter(shown => isOpen(shown, now))
}

/**
 * Keeps the calls that wait as the gateway has them, for callers who may answer them: reads them whenever the watch
 * feed says that they changed. Returns how to end it.
 */
export function followProposals (client: Client): () => void {
  if (!mayWatch(client)) {
    forgetProposals()
    return () => {}
  }
  let known: Json | undefined
  let isEnded = false
  let turn = 0
  const read = (): void => {
    const own = ++turn
    readProposals(client).then(
      rows => {
        if (isEnded || own !== turn) return
        unreadProposals.value = ''
        proposals.value = merge(proposals.value, rows)
      },
      (error: unknown) => {
        if (!isEnded && own === turn) unreadProposals.value = error instanceof Error ? error.message : String(error)
      }
    )
  }
  const off = client.onNotification((method, { approvals, at }) => {
    if (method !== WATCH_BATCH) return
    if (typeof at === 'number') gatewayAhead.value = at - Date.now()
    if (approvals === undefined || approvals === known) return
    known = approvals
    read()
  })
  read()
  return () => {
    isEnded = true
    off()
  }
}

/** Answers the call that was shown; what came of it stands in `proposals` from then on, in words. */
export async function decide (
  client: Client,
  { id, digest }: Proposal,
  decision: Decision,
  content?: JsonObject
): Promise<string> {
  const given = { id, decision, digest, ...(content !== undefined && { content }) }
  const words = await client.request('patchbay/approvals/decide', given).then(
    () => decision === 'decline' ? 'You declined it.' : content === undefined ? 'You approved it.' : 'You answered it.',
    (error: unknown) => {
      if (!(error instanceof RpcError) || error.code !== UNKNOWN || !hasGone(error)) throw error
      return `Nothing was decided. ${GONE}`
    }
  )
  const end = (shown: ShownProposal): ShownProposal =>
    shown.ended === undefined && isSame(shown.proposal, { id, digest }) ? { ...shown, ended: words } : shown
  proposals.value = proposals.value.map(end)
  return words
}

async function readProposals (client: Client): Promise<Proposal[]> {
  const { approvals } = await client.request('patchbay/approvals')
  return Array.isArray(approvals) ? approvals.flatMap(rowOf) : []
}

/** Nothing moves that is there: what is new comes last, and what has gone stays and says so. */
function merge (known: readonly ShownProposal[], rows: readonly Proposal[]): ShownProposal[] {
  const kept = known.map(shown => {
    const waits = rows.some(row => isSame(row, shown.proposal))
    return waits || shown.ended !== undefined ? shown : { ...shown, ended: GONE }
  })
  // A list that was read before an answer has what was answered.
  const added = rows.filter(row => !kept.some(({ proposal, ended }) =>
    isSame(row, proposal) && (ended === undefined || proposal.at === row.at)))
  const all = [...kept, ...added.map(proposal => ({ proposal, ended: undefined }))]
  let surplus = all.filter(({ ended }) => ended !== undefined).length - MAX_ENDED
  return all.filter(({ ended }) => ended === undefined || --surplus < 0)
}

/** False where another operator, or another answer, would be taken. */
const hasGone = ({ data }: RpcError): boolean =>
  !isObject(data) || (data.code !== 'PATCHBAY_NOT_ALLOWED' && data.code !== 'PATCHBAY_WRONG_ANSWER')

const isSame = (one: Pick<Proposal, 'id' | 'digest'>, other: Pick<Proposal, 'id' | 'digest'>): boolean =>
  one.id === other.id && one.digest === other.digest

/** A row as far as it can be shown, of whatever came. */
function rowOf (row: Json): Proposal[] {
  if (!isObject(row) || typeof row.id !== 'string' || typeof row.digest !== 'string') return []
  const { id, digest, caller, view, name, method, rule, message, at, expires, fixed, form } = row
  return [{
    id,
    digest,
    caller: String(caller),
    view: typeof view === 'string' ? view : undefined,
    name: String(name),
    method: String(method),
    rule: String(rule),
    message: typeof message === 'string' ? message : undefined,
    arguments: JSON.stringify(row.arguments ?? null, undefined, 2),
    fixed: Array.isArray(fixed) ? fixed.map(String) : [],
    form: isObject(form) && isObject(form.requestedSchema)
      ? { message: String(form.message), schema: form.requestedSchema }
      : undefined,
    at: Number(at),
    expires: Number(expires)
  }]
}
