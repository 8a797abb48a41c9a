import { setTimeout as delay } from 'node:timers/promises'
import { checkedLookup } from '../../../lib/address-check.js'
import { growingDelay } from '../../../lib/time.js'
import { postJson, WebhookSigner } from '../../../system/webhook.js'
import { isObject } from '../../../protocol/wire/json.js'
import { codes, isMcpError } from '../../../protocol/wire/errors.js'
import { questionFor } from './approve.js'
import type { ApprovalDesk } from './desk.js'
import type { Pending } from './pending.js'

export interface WebhookOptions { readonly url: string, readonly secret: string }

/** The end of an answer that came in: taken, or why not. */
export type Taken =
  | { readonly is: 'taken', readonly answer: 'approved' | 'declined', readonly id: string }
  | { readonly is: 'unsigned' | 'wrong' | 'not waiting', readonly why: string }

/** How often a proposal is sent, and the waits between, in milliseconds. */
const ATTEMPTS = 5
const RETRY = { first: 1_000, longest: 60_000 }
const NOT_WAITING = 'no call waits for this answer: it was answered, its time is over, or it never was'

/** Tells a program of the operator which calls wait, and takes its answers, both signed with one secret. */
export class ApprovalWebhook {
  readonly #url: URL
  readonly #signer: WebhookSigner
  readonly #desk: ApprovalDesk
  readonly #report: (why: string | undefined) => void
  readonly #lookup = checkedLookup(true)

  /** `report` takes why proposals cannot be delivered, or undefined when they can. */
  constructor ({ url, secret }: WebhookOptions, desk: ApprovalDesk, report: (why: string | undefined) => void) {
    this.#url = new URL(url)
    this.#signer = new WebhookSigner(secret)
    this.#desk = desk
    this.#report = report
  }

  /** Sends a proposal, again if need be, until it is delivered or the call waits no more. Never rejects. */
  async announce (pending: Pending, signal: AbortSignal): Promise<void> {
    const { id, nonce, ...rest } = pending
    const name = `${id}.${nonce}`
    const type = pending.form === undefined ? 'approval.requested' : 'answer.requested'
    const body = JSON.stringify({ type, id: name, question: questionFor(pending), ...rest })
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
      const why = await this.#send(name, body, signal)
      if (signal.aborted) return
      this.#report(why)
      if (why === undefined) return
      const wait = growingDelay(RETRY.first, RETRY.longest, 2 * attempt)
      await delay(wait, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** Takes an answer: once, and for the very call that was sent. */
  async take (headers: Parameters<WebhookSigner['mistakeOf']>[0], body: Uint8Array): Promise<Taken> {
    const why = this.#signer.mistakeOf(headers, body)
    if (why !== undefined) return { is: 'unsigned', why }
    const { id, digest, decision, content } = answerIn(body)
    const isApproved = decision === 'approve'
    if (typeof id !== 'string' || typeof digest !== 'string' || (!isApproved && decision !== 'decline')) {
      return { is: 'wrong', why: 'the body must be {"id":"…","digest":"…","decision":"approve"} or "decline", with the id and the digest that were sent' }
    }
    const end = id.lastIndexOf('.')
    const [waiting, nonce] = [id.slice(0, end), id.slice(end + 1)]
    const answer = { isApproved, by: 'webhook', ...(isObject(content) && { content }) } as const
    const isTaken = await this.#desk.answer(waiting, answer, { digest, nonce }).catch((error: unknown) => {
      if (isMcpError(error) && error.code === codes.invalidParams) return error.message
      throw error
    })
    if (typeof isTaken === 'string') return { is: 'wrong', why: isTaken }
    return isTaken ? { is: 'taken', answer: isApproved ? 'approved' : 'declined', id: waiting } : { is: 'not waiting', why: NOT_WAITING }
  }

  async #send (name: string, body: string, signal: AbortSignal): Promise<string | undefined> {
    const place = `the webhook for approvals at ${this.#url.origin}`
    try {
      const status = await postJson(this.#url, this.#signer.headersFor(name, body), body, signal, this.#lookup)
      return status >= 200 && status < 300 ? undefined : `${place} answered with the status ${status}`
    } catch (error) {
      const { code = 'no answer in time' } = error as NodeJS.ErrnoException
      return `${place} could not be reached (${code})`
    }
  }
}

function answerIn (body: Uint8Array): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(Buffer.from(body).toString())
    return isObject(answer) ? answer : {}
  } catch {
    return {}
  }
}
