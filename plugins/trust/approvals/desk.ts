import { randomUUID } from 'node:crypto'
import { now } from '../../../lib/time.js'
import type { Values } from '../../../protocol/store.js'
import { mistakeInForm } from '../../../protocol/questions/form-mistake.js'
import { errors, isFull } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Proposal } from '../rules/proposal.js'
import { Changes } from './changes.js'
import { idOf, isOwnedBy, isPending, ownerIn, PENDING, type Answered, type Answerer, type Pending } from './pending.js'

/** Tells others of a call that waits, for as long as the signal lets. */
export type Announce = (pending: Pending, signal: AbortSignal) => void

/** The end of waiting. */
export type Answer = 'approved' | 'declined' | 'unanswered' | 'full' | 'full for caller'

/** The end of waiting, and who brought it about where a person did. */
export interface Ended extends Pick<Answered, 'content'> { readonly is: Answer, readonly by?: Answerer | undefined }

export interface DeskLimits { readonly maxApprovals: number, readonly maxApprovalsPerCaller: number }

/** Which question is meant; without either member, the one that waits. */
interface Only { readonly digest?: string, readonly nonce?: string }

const DECLINED = 'approvals/declined'
const USED = 'approvals/used'
/** How many refusals, and used approvals, are remembered for each call that may wait. */
const DECLINED_FOR_EACH = 10
const USED_FOR_EACH = 100
/** How soon an answer is found whose announcement is lost with the node that stored it, in milliseconds. */
const LOOK_AGAIN = 5_000
/** How long the use of an approval is remembered after its rule's `wait`, in milliseconds. */
const REMEMBERED = 3_600_000

/**
 * Calls that wait for an operator, and the answers, in the store: they outlive the process, and every node has them. An
 * answer is written into the record of its call in one step, so that it counts as soon as it is stored, and is taken
 * out by the one call that it lets run.
 */
export class ApprovalDesk {
  readonly #values: Values
  readonly #limits: DeskLimits
  /** The latest of the writes of each caller that are counted: they come one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>()
  announce: Announce | undefined

  constructor (values: Values, limits: DeskLimits) {
    this.#values = values
    this.#limits = limits
  }

  /** Waits until an operator answers, or until the time that the rule gives is over. The signal ends it, too. */
  async wait (proposal: Proposal, signal: AbortSignal): Promise<Ended> {
    const id = idOf(proposal)
    const changes = new Changes(this.#values, [PENDING, DECLINED], id, signal)
    const ended = new AbortController()
    try {
      const end = now() + proposal.wait
      for (let announced = '', isNews = true; !signal.aborted;) {
        const answer = await this.#takeAnswer(id)
        if (answer !== undefined) return answer
        // Its record may have expired by now: it is not put there, and announced, once more.
        const left = end - now()
        if (left <= 0) break
        if (isNews) {
          // Again where the same call of the same caller has used the answer: each needs one of its own.
          const pending = await this.#put(proposal, id)
          if (typeof pending === 'string') return { is: pending }
          if (pending.nonce !== announced) this.announce?.(pending, ended.signal)
          announced = pending.nonce
        }
        isNews = await changes.next(Math.min(left, LOOK_AGAIN)) || await this.#values.get(PENDING, id) === undefined
      }
      return signal.aborted ? { is: 'unanswered' } : await this.#giveUp(id)
    } finally {
      changes.close()
      ended.abort()
    }
  }

  /** The calls that wait, oldest first. */
  async list (): Promise<Pending[]> {
    const entries = await this.#values.list(PENDING, { limit: this.#limits.maxApprovals })
    return entries
      .flatMap(({ value }) => isPending(value) && value.answer === undefined ? [value] : [])
      .sort((one, other) => one.at - other.at)
  }

  /**
   * Answers a call that waits; false where it does not, or not any more. Of several who answer at once, one does. With
   * a digest or a nonce, only the question that these are of. Throws where it is no answer to its form.
   */
  async answer (id: string, answer: Answered, only: Only = {}): Promise<boolean> {
    const pending = await this.#values.get(PENDING, id)
    if (!isPending(pending) || pending.answer !== undefined) return false
    if (![pending.digest, undefined].includes(only.digest) || ![pending.nonce, undefined].includes(only.nonce)) {
      return false
    }
    checkAnswer(pending, answer)
    // From here on the answer counts. It is swapped for this very question: one that takes its place is another value.
    const expires = Date.now() + pending.wait
    if (!await this.#values.swap(PENDING, id, pending, { ...pending, answer }, { expires })) return false
    if (!answer.isApproved) await this.#keepRefusal(pending, answer)
    return true
  }

  /** Declines the same call of the same caller for as long as the rule says; false where too many are remembered. */
  async decline ({ digest, wait }: Pick<Proposal, 'digest' | 'wait'>, id: string, by: Answerer): Promise<boolean> {
    const owner = ownerIn(id)
    const options = { expires: Date.now() + wait, max: DECLINED_FOR_EACH * this.#limits.maxApprovals }
    return await this.#inTurn(owner, async () => {
      const most = DECLINED_FOR_EACH * this.#limits.maxApprovalsPerCaller
      if ((await this.#keysOf(DECLINED, owner, most, id)).length >= most) return false
      return await this.#putWithin(DECLINED, id, { digest, by }, options)
    })
  }

  /** The person who declined this very call; undefined where it may be asked about. */
  async refuserOf ({ digest, ...proposal }: Proposal): Promise<Answerer | undefined> {
    const refusal = await this.#refusal(idOf({ ...proposal, digest }))
    return refusal?.digest === digest ? refusal.by : undefined
  }

  /**
   * True for the first use of a token, at any node. A state that has it may be brought back for as long as `wait`.
   * False where the caller has used too many of late.
   */
  async use (owner: string, token: string, mark: string, wait: number): Promise<boolean> {
    const key = `${owner}.${token}`
    return await this.#inTurn(owner, async () => {
      const most = USED_FOR_EACH * this.#limits.maxApprovalsPerCaller
      if ((await this.#keysOf(USED, owner, most, key)).length >= most) return false
      await this.#values.put(USED, key, mark, { ifAbsent: true, expires: Date.now() + REMEMBERED + wait })
      return await this.#values.get(USED, key) === mark
    })
  }

  async #put (proposal: Proposal, id: string): Promise<Pending | Answer> {
    return await this.#inTurn(proposal.owner, async () => await this.#putInTurn(proposal, id))
  }

  async #putInTurn ({ owner, ...shown }: Proposal, id: string): Promise<Pending | Answer> {
    const { maxApprovals, maxApprovalsPerCaller: most } = this.#limits
    if ((await this.#keysOf(PENDING, owner, most, id)).length >= most) return 'full for caller'
    const at = Date.now()
    const pending: Pending = { ...shown, id, at, expires: at + shown.wait, nonce: randomUUID() }
    const options = { ifAbsent: true, expires: pending.expires, max: maxApprovals }
    if (!await this.#putWithin(PENDING, id, pending, options)) return 'full'
    const stored = await this.#values.get(PENDING, id)
    if (!isPending(stored)) return pending
    if (stored.nonce !== pending.nonce || (await this.#keysOf(PENDING, owner, most, id)).length < most) return stored
    // Other nodes count at the same time.
    await this.#values.delete(PENDING, id)
    return 'full for caller'
  }

  /** False where the space is full. */
  async #putWithin (...given: Parameters<Values['put']>): Promise<boolean> {
    try {
      await this.#values.put(...given)
      return true
    } catch (error) {
      if (isFull(error)) return false
      throw error
    }
  }

  /** Up to `most` keys of a caller, besides one. */
  async #keysOf (space: string, owner: string, most: number, besides: string): Promise<string[]> {
    const keys = await this.#values.keys(space, { after: `${owner}.`, limit: most + 1 })
    return keys.filter(key => isOwnedBy(key, owner) && key !== besides).slice(0, most)
  }

  async #inTurn<T> (owner: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(owner) ?? Promise.resolve()).then(work, work)
    this.#turns.set(owner, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(owner) === turn) this.#turns.delete(owner)
    }
  }

  /** The answer, which no other call gets then if it is a yes; undefined where there is none. */
  async #takeAnswer (id: string): Promise<Ended | undefined> {
    const stored = await this.#values.get(PENDING, id)
    const isApproved = isPending(stored) && stored.answer?.isApproved === true
    // Another call may have used the yes meanwhile, and may wait again.
    const found = isApproved ? await this.#values.take(PENDING, id) : stored
    return await this.#endOf(id, isPending(found) ? found.answer : undefined)
  }

  /** An answer may come at the last moment: it counts for this call, or for nothing. */
  async #giveUp (id: string): Promise<Ended> {
    const taken = await this.#values.take(PENDING, id)
    if (isPending(taken) && taken.answer?.isApproved === false) await this.decline(taken, id, byOf(taken.answer))
    return await this.#endOf(id, isPending(taken) ? taken.answer : undefined) ?? { is: 'unanswered' }
  }

  async #endOf (id: string, answer: Answered | undefined): Promise<Ended | undefined> {
    if (answer !== undefined) {
      const { isApproved, content } = answer
      return { is: isApproved ? 'approved' : 'declined', by: byOf(answer), ...(content !== undefined && { content }) }
    }
    const refusal = await this.#refusal(id)
    return refusal && { is: 'declined', by: refusal.by }
  }

  /** Moves a no to where it takes no place of calls that wait. Where that fails, it stays in its record for as long. */
  async #keepRefusal (pending: Pending, answer: Answered): Promise<void> {
    const isKept = await this.decline(pending, pending.id, byOf(answer)).catch(() => false)
    if (isKept) await this.#values.delete(PENDING, pending.id).catch(() => false)
  }

  async #refusal (id: string): Promise<{ digest: unknown, by: Answerer } | undefined> {
    const refusal = await this.#values.get(DECLINED, id)
    return isObject(refusal) && isObject(refusal.by) ? refusal as { digest: unknown, by: Answerer } : undefined
  }
}

function checkAnswer ({ form }: Pending, { isApproved, content }: Answered): void {
  if (!isApproved) return
  const wrong = form === undefined ? surplus(content) : mistakeInForm(form.requestedSchema, content ?? {})
  if (wrong !== undefined) throw errors.badAnswer('elicitation/create', wrong)
}

const surplus = (content: object | undefined): string | undefined =>
  content === undefined ? undefined : 'this call asks no question, so there is nothing to answer: approve it'

const byOf = ({ by, principal }: Answered): Answerer => ({ by, ...(principal !== undefined && { principal }) })
