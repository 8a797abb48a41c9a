import type { Answering } from '../questions/stand-in.js'
import type { Rule } from '../rules/rule.js'
import type { McpError } from '../wire/errors.js'
import type { Params } from '../wire/jsonrpc.js'

/** The thing that the audit log names a call after. */
export type AuditSubject = ({ tool: string } | { resource: string } | { prompt: string }) & {
  /** The alias of the upstream that it belongs to. */
  upstream?: string
}

/** The decision of the rules and of people about a call. */
export interface Ruling extends Answering {
  /** The name of the rule that decided; undefined where none had to. */
  readonly rule?: string
  /** The answer of a person: about this call, or the one that this call gave. */
  readonly approval?: Approval
  /** The answers of operators to questions that the call asked. */
  readonly answers?: readonly Approval[]
  /** The thing that it hides from the caller. */
  readonly hidden?: Target
  /** The rule itself where it asks a person. */
  readonly asks?: Rule
  /** The digest of the proposal that the person approved. */
  readonly approved?: string
}

/** The answer of a person about a call or to its question, as the audit log has it. */
export interface Approval {
  /** The proposal that was answered; the same call of the same caller has the same. */
  readonly id: string
  readonly answer: 'approved' | 'declined' | 'answered'
  /** The road on which the answer came: the user of the client that called, an operator, or the operator's webhook. */
  readonly by: 'user' | 'operator' | 'webhook'
  /** The caller who answered; a webhook has none, and neither has the user of an anonymous caller. */
  readonly principal?: string | undefined
}

/** A tool, prompt or resource by its key in its collection. */
export interface Ruled {
  readonly kind: 'tools' | 'resources' | 'prompts'
  readonly key: string
  readonly item: object
}

/** A tool that stands for another thing, and its arguments. */
export interface Via extends Ruled { readonly arguments: Params }

/**
 * The subject of a request, looked up once per call: the registered item, its name in the audit log, and the scopes a
 * caller needs.
 */
export interface Target<T = unknown> {
  readonly auditSubject?: AuditSubject
  /** Its name in the operator's options. */
  readonly accessName?: string
  readonly scopes: readonly string[]
  /** The thing that rules decide about. */
  readonly ruled?: Ruled
  /** The tools by which the call is made, which stand for others: rules decide about them, too. */
  readonly via?: readonly Via[]
  readonly item?: T | undefined
  /** The error for a caller that lacks the scopes, where it is not that of the method. */
  readonly unknown?: () => McpError
  /** The error for what its server has and clients do not get, such as a tool that pins hold back. */
  readonly leftOut?: () => McpError
}
