import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { text } from '../../protocol/wire/content.js'
import { errors } from '../../protocol/wire/errors.js'
import type { Approval } from '../../protocol/dispatch/target.js'
import type { Rule } from '../../protocol/rules/rule.js'
import { ADMIN_SCOPE } from '../../protocol/wire/identity.js'
import type { ApprovalDesk, DeskLimits } from './approvals/desk.js'
import { NOT_NAMED, onPendingChange } from './approvals/pending.js'
import type { ApprovalWebhook, WebhookOptions } from './approvals/webhook.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The calls that wait for an operator. */
    approvals: {
      /** Runs when a call began or ended to wait, at any node. Returns how to stop it. */
      onChange: (listener: () => void) => () => void
      /** Takes an answer of the operator's webhook; undefined where there is none. */
      readonly takeSigned: ApprovalWebhook['take'] | undefined
    }
  }
}

export interface ApprovalOptions extends DeskLimits {
  /** The rules that there are at the start. */
  readonly rules: readonly Pick<Rule, 'by' | 'questions'>[]
  readonly maxApprovalText: number
  readonly approvalWebhook?: WebhookOptions | undefined
}

const FOR_OPERATORS = { scopes: [ADMIN_SCOPE], hidden: true }
const Decision = Type.Object({
  id: Type.String({ maxLength: 100 }),
  decision: Type.Union([Type.Literal('approve'), Type.Literal('decline')]),
  digest: Type.Optional(Type.String({ maxLength: 100 })),
  content: Type.Optional(Type.Object({}))
})

/**
 * Asks a person about calls for which a rule says so, and gives operators the calls that wait for them. The code is
 * loaded with the first of these, or with the webhook.
 */
export default fp(async (fastify, { maxApprovalText, approvalWebhook, rules, ...limits }: ApprovalOptions) => {
  const { mcp, log } = fastify
  const { values } = mcp.store
  let opening: Promise<ApprovalDesk> | undefined
  const open = async (): Promise<ApprovalDesk> => new (await import('./approvals/desk.js')).ApprovalDesk(values, limits)
  const openDesk = async (): Promise<ApprovalDesk> => await (opening ??= open())
  const openWebhook = async (options: WebhookOptions): Promise<ApprovalWebhook> => {
    const [{ ApprovalWebhook }, desk] = await Promise.all([import('./approvals/webhook.js'), openDesk()])
    const webhook = new ApprovalWebhook(options, desk, why => mcp.health.report('approvals', why))
    desk.announce = (pending, signal) => { void webhook.announce(pending, signal) }
    return webhook
  }
  const webhook = approvalWebhook && await openWebhook(approvalWebhook)
  let isWarned = false
  const warnOfNone = (): void => {
    if (isWarned || webhook !== undefined || ('identities' in mcp && mcp.identities.required)) return
    isWarned = true
    log.warn(`a rule asks an operator, and none can answer at this gateway: ${NOT_NAMED}`)
  }
  fastify.addHook('onReady', async () => { if (rules.some(isForOperators)) warnOfNone() })

  mcp.provide('approvals', {
    onChange: listener => onPendingChange(values, listener),
    takeSigned: webhook && (async (headers, body) => {
      const taken = await webhook.take(headers, body)
      if (taken.is === 'taken') log.info({ approval: approvalOf(taken) }, `${taken.answer} by the webhook`)
      return taken
    })
  })

  mcp.rules.askWith(async (call, run) => {
    const { proposalOf: describe } = mcp.rules
    const proposal = describe(call)
    if (proposal.by === 'operator') warnOfNone()
    const [{ askFor }, desk] = await Promise.all([import('./approvals/approve.js'), openDesk()])
    const { approved, why } = await askFor(call, proposal, { desk, describe, maxApprovalText })
    if (call.response.isClosed) return {}
    if (why === undefined) {
      if (call.ruled !== undefined) call.ruled = { ...call.ruled, approved }
      return await run()
    }
    call.denied = true
    if (call.method === 'tools/call') return { content: [text(why)], isError: true }
    throw errors.notAllowed(why)
  })

  mcp.rules.answerWith(async (call, proposal, form, signal) => {
    warnOfNone()
    const [{ askDesk }, desk] = await Promise.all([import('./approvals/ask-desk.js'), openDesk()])
    return await askDesk(call, proposal, form, { desk, maxApprovalText, signal })
  })

  mcp.method('patchbay/approvals', Type.Object({}), async () => ({ approvals: await (await openDesk()).list() }), FOR_OPERATORS)

  mcp.method('patchbay/approvals/decide', Decision, async (decision, call) => {
    const [{ decide }, desk] = await Promise.all([import('./approvals/decide.js'), openDesk()])
    await decide(desk, decision, call, mcp.rules.ownerOf(call.identity))
    return {}
  }, FOR_OPERATORS)
}, { name: 'patchbay-approvals', dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-rules'] })

const isForOperators = ({ by, questions }: Pick<Rule, 'by' | 'questions'>): boolean =>
  by === 'operator' || questions !== undefined

const approvalOf = ({ id, answer }: Pick<Approval, 'id' | 'answer'>): Approval => ({ id, answer, by: 'webhook' })
