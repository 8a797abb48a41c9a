import type { Call } from '../../../protocol/dispatch/call.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { ApprovalDesk } from './desk.js'
import { isOwnedBy, NOT_NAMED } from './pending.js'

interface Decision {
  readonly id: string
  readonly decision: 'approve' | 'decline'
  readonly digest?: string
  readonly content?: Record<string, unknown>
}

const OWN = 'this is a call of your own credential, which another operator has to answer'

/** Answers a call that waits, in the name of the caller, whose own calls have the owner `self`. */
export async function decide (desk: ApprovalDesk, decision: Decision, call: Call, self: string): Promise<void> {
  const { id, digest, content } = decision
  const { principal } = call
  if (principal === undefined) throw errors.notAllowed(NOT_NAMED)
  if (isOwnedBy(id, self)) throw errors.notAllowed(OWN)
  const isApproved = decision.decision === 'approve'
  const by = { by: 'operator', principal } as const
  const answered = { isApproved, ...by, ...(content !== undefined && { content }) }
  if (!await desk.answer(id, answered, digest === undefined ? {} : { digest })) {
    throw errors.invalidParams(`no call of the id "${id}" waits for an approval; list those that do`)
  }
  const answer = !isApproved ? 'declined' : content === undefined ? 'approved' : 'answered'
  call.ruled = { ...call.ruled, approval: { id, answer, ...by } }
}
