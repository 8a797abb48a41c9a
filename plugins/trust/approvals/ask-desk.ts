import { createHash } from 'node:crypto'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { ClientRequest } from '../../../protocol/questions/client-request.js'
import type { ElicitAnswer } from '../../../protocol/wire/client-answers.js'
import { errors } from '../../../protocol/wire/errors.js'
import { canonicalJson, isObject } from '../../../protocol/wire/json.js'
import type { Form, Proposal } from '../rules/proposal.js'
import { questionWithin } from './approve.js'
import type { Answer, ApprovalDesk } from './desk.js'
import { idOf } from './pending.js'

interface Asking {
  readonly desk: ApprovalDesk
  /** The most characters that a person is shown. */
  readonly maxApprovalText: number
  /** Takes the question back. */
  readonly signal: AbortSignal
}

/** Has an operator answer a form of a call whose client cannot be asked. Without an answer in time it is cancelled. */
export async function askDesk (
  call: Call,
  asker: Proposal,
  { method, params }: ClientRequest,
  { desk, maxApprovalText, signal }: Asking
): Promise<ElicitAnswer> {
  const { message, requestedSchema } = params
  const proposal = questionOf(asker, {
    message: String(message),
    requestedSchema: isObject(requestedSchema) ? requestedSchema : { type: 'object', properties: {} }
  })
  if (questionWithin(proposal, maxApprovalText) === undefined) {
    throw errors.cannotAsk(method, 'the question is too long to be shown to an operator (limit maxApprovalText)')
  }
  call.response.deadline?.hold()
  try {
    const { is, by, content = {} } = await desk.wait(proposal, signal)
    if (is === 'approved' || is === 'declined') {
      const answer = is === 'approved' ? 'answered' : is
      const own = by === undefined ? [] : [{ id: idOf(proposal), answer, ...by } as const]
      call.ruled = { ...call.ruled, answers: [...call.ruled?.answers ?? [], ...own] }
      return is === 'approved' ? { action: 'accept', content } : { action: 'decline' }
    }
    const full = FULL[is]
    if (full !== undefined) throw errors.cannotAsk(method, full)
    return { action: 'cancel' }
  } finally {
    call.response.deadline?.release()
  }
}

/** Describes a question of a call, bound to all that the call is. */
function questionOf (call: Proposal, form: Form): Proposal {
  const bound = canonicalJson([call.digest, form.message, form.requestedSchema])
  const digest = createHash('sha256').update(bound).digest('hex')
  return { ...call, digest, form, message: undefined, by: 'operator' }
}

const FULL: Partial<Record<Answer, string>> = {
  full: 'too many calls wait for an operator (limit maxApprovals)',
  'full for caller': 'too many calls of this caller wait for an operator (limit maxApprovalsPerCaller)'
}
