import { randomUUID } from 'node:crypto'
import { visible } from '../../../lib/one-line.js'
import { withTimeout } from '../../../lib/time.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Proposal } from '../rules/proposal.js'
import type { Answer, ApprovalDesk, Ended } from './desk.js'
import { idOf, type Answerer } from './pending.js'

export interface Approver {
  readonly desk: ApprovalDesk
  /** Describes the call by the rules that there are now. */
  readonly describe: (call: Call) => Proposal
  /** The most characters of arguments that a person is shown. */
  readonly maxApprovalText: number
}

/** The digest of what was approved, or why the call must not run. */
interface Outcome { readonly approved: string, readonly why?: string | undefined }

/**
 * Asks the person that the rule names, and notes who answered in the call. A task goes on without another question for
 * what was approved before it.
 */
export async function askFor (call: Call, proposal: Proposal, approver: Approver): Promise<Outcome> {
  const approved = proposal.digest
  return { approved, why: call.task?.approved === approved ? undefined : await refusalOf(call, proposal, approver) }
}

/** Why the call must not run; undefined where it may. */
async function refusalOf (
  call: Call,
  proposal: Proposal,
  { desk, describe, maxApprovalText }: Approver
): Promise<string | undefined> {
  const { name } = proposal
  if (call.method === 'resources/subscribe') return `${name} needs an approval, which a subscription cannot get`
  const text = questionWithin(proposal, maxApprovalText)
  if (text === undefined) {
    return `${name} needs an approval, and its arguments are too long to be shown (limit maxApprovalText)`
  }
  const isForOperator = proposal.by === 'operator'
  const end = isForOperator ? await askOperator(call, proposal, desk) : await askCaller(call, proposal, text, desk)
  if (typeof end === 'string') return end
  const { is, by } = end
  const answer = is === 'approved' || is === 'declined' ? is : undefined
  if (by !== undefined && answer !== undefined) {
    call.ruled = { ...call.ruled, approval: { id: idOf(proposal), answer, ...by } }
  }
  if (answer !== 'approved') return sentenceFor(is, proposal, isForOperator ? 'operator' : 'user')
  // The rules may have been replaced meanwhile.
  if (describe(call).digest === proposal.digest) return undefined
  return `${name} was not run: the rules changed while it waited; call it again`
}

async function askOperator (call: Call, proposal: Proposal, desk: ApprovalDesk): Promise<Ended> {
  const first = `patchbay/answered ${proposal.digest}`
  if (call.revision.stateless) {
    const fresh = randomUUID()
    // The state of an earlier round has another token: it was approved then, and the call has asked something since.
    const token = await call.once(`patchbay/approved ${proposal.digest}`, () => fresh)
    if (token !== fresh) {
      const is = await useNext(call, proposal, token, desk)
      return { is, by: await call.once(first, (): Answerer | undefined => undefined) ?? undefined }
    }
  }
  call.response.deadline?.hold()
  try {
    const end = await desk.wait(proposal, call.signal)
    if (call.revision.stateless && end.is === 'approved') await call.once(first, () => end.by)
    return end
  } finally {
    call.response.deadline?.release()
  }
}

async function askCaller (
  call: Call,
  proposal: Proposal,
  message: string,
  desk: ApprovalDesk
): Promise<Ended | string> {
  const refuser = await desk.refuserOf(proposal)
  if (refuser !== undefined) return { is: 'declined', by: refuser }
  const params = { message, requestedSchema: { type: 'object', properties: {} } }
  if (!call.clientRequests.reaches({ method: 'elicitation/create', params })) {
    return `${proposal.name} needs an approval of its user, and this client cannot be asked: use one that has elicitation`
  }
  const is = call.revision.stateless
    ? await askInRounds(call, proposal, params, desk)
    : await askNow(call, proposal, params)
  const by: Answerer = { by: 'user', ...(call.principal !== undefined && { principal: call.principal }) }
  if (is === 'declined') await desk.decline(proposal, idOf(proposal), by)
  return { is, by }
}

type Params = { message: string, requestedSchema: object }

async function askNow (call: Call, { wait }: Proposal, params: Params): Promise<Answer> {
  const { action } = await withTimeout(call.elicit('patchbay/approval', params), wait, () => ({ action: 'late' }))
  return answerFor(action)
}

/**
 * The question has a key that only its sealed state proves, so an answer without the state is none. Each state lets the
 * call run on once, also where the call itself asks more. What is another call by now is asked about anew.
 */
async function askInRounds (call: Call, proposal: Proposal, params: Params, desk: ApprovalDesk): Promise<Answer> {
  const { digest, wait } = proposal
  // The user may take as long as the rule says.
  call.clientRequests.extendState(wait)
  const asked = await call.once(`patchbay/approval ${digest}`, () => ({ token: randomUUID(), until: Date.now() + wait }))
  const { action } = await call.elicit(`patchbay/approval ${asked.token}`, params)
  const answer = answerFor(action)
  return answer === 'approved' ? await useNext(call, proposal, asked.token, desk, asked.until) : answer
}

/** Uses the token of the latest round, and makes one for the next. The first is good until then. */
async function useNext (
  call: Call,
  { owner, digest, wait }: Proposal,
  first: string,
  desk: ApprovalDesk,
  until = Infinity
): Promise<Answer> {
  for (let [round, token] = [0, first]; ; round++) {
    const mark = randomUUID()
    const next = await call.once(`patchbay/use ${digest} ${round}`, () => mark)
    if (next === mark) {
      const isLate = round === 0 && until < Date.now()
      return !isLate && await desk.use(owner, token, mark, wait) ? 'approved' : 'unanswered'
    }
    token = next
  }
}

const answerFor = (action: string): Answer =>
  action === 'accept' ? 'approved' : action === 'decline' ? 'declined' : 'unanswered'

function sentenceFor (answer: Answer, { name, wait }: Proposal, who: string): string {
  switch (answer) {
    case 'declined':
      return `${name} was not run: the ${who} declined this call; it stays declined for ${wait / 1_000} s`
    case 'full':
      return `${name} was not run: too many calls wait for an approval (limit maxApprovals); try again later`
    case 'full for caller':
      return `${name} was not run: too many calls of this caller wait for an approval (limit maxApprovalsPerCaller)`
    default:
      return `${name} was not run: it needs an approval of the ${who}, and there is none; call it again to ask again`
  }
}

/** The question in at most so many characters; undefined where it is longer. */
export function questionWithin (proposal: Proposal, max: number): string | undefined {
  // Indented, what is deep is many times as long.
  if (JSON.stringify([proposal.arguments, proposal.form]).length > max) return undefined
  const text = questionFor(proposal)
  return text.length > max ? undefined : text
}

/** The question, with what a terminal would obey or a reader not see escaped. */
export function questionFor (
  { name, rule, view, message, fixed = [], form, arguments: given }: Omit<Proposal, 'owner'>
): string {
  const sentence = message === undefined ? '' : `${message}\n`
  const place = view === undefined ? rule : `${rule}, view ${view}`
  const hidden = fixed.length === 0 ? '' : `\nThe operator fixed the value of: ${fixed.join(', ')}`
  const what = form === undefined
    ? `Run ${name} with these arguments? (${place})`
    : `${form.message}\n${JSON.stringify(form.requestedSchema, undefined, 2)}\nAsked by ${name}, which was called with these arguments (${place}):`
  return visible(`${sentence}${what}\n${JSON.stringify(given, undefined, 2)}${hidden}`)
}
