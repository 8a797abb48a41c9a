import type { Approval } from '../../../protocol/dispatch/target.js'
import type { Values } from '../../../protocol/store.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Proposal } from '../rules/proposal.js'

/** Where in the store the calls are that wait for an operator, each with its answer as soon as there is one. */
export const PENDING = 'approvals/pending'

/** The person who answered, and on which road. */
export type Answerer = Pick<Approval, 'by' | 'principal'>

/** An answer as it is stored. */
export interface Answered extends Answerer {
  readonly isApproved: boolean
  /** The content of the form, where a question was answered. */
  readonly content?: Readonly<Record<string, unknown>>
}

/** A proposal as operators see it. */
export interface Pending extends Omit<Proposal, 'owner'> {
  readonly id: string
  readonly at: number
  readonly expires: number
  /** Tells this question from a later one about the same call. */
  readonly nonce: string
  /** Never shown: what has an answer does not wait any more. */
  readonly answer?: Answered
}

/** The reason why a caller without a name answers nothing. */
export const NOT_NAMED =
  'an answer needs an operator who is known by name: without API keys or tokens, the client that called could answer ' +
  'itself. Set option apiKeys (patchbay key NAME --scope admin), oauth or approvalWebhook'

/** The id of a call that waits: that of the same call of the same caller is the same. */
export const idOf = ({ owner, digest }: Pick<Proposal, 'owner' | 'digest'>): string => `${owner}.${digest}`

/** The owner of the call that waits under the id. */
export const ownerIn = (id: string): string => id.slice(0, id.indexOf('.'))

/** True where a call of this owner waits under the id. */
export const isOwnedBy = (id: string, owner: string): boolean => id.startsWith(`${owner}.`)

export const isPending = (value: unknown): value is Pending =>
  isObject(value) && typeof value.id === 'string' && typeof value.digest === 'string' && typeof value.wait === 'number'

/** Runs when a call began or ended to wait, at any node, and not when its time is over. Returns how to stop it. */
export function onPendingChange (values: Values, listener: () => void): () => void {
  const offs = [
    values.onChange(space => { if (space === PENDING) listener() }),
    values.onMissedChanges(listener)
  ]
  return () => { for (const off of offs) off() }
}
