import type { McpError } from '../wire/errors.js'

/** The thing that the audit log names a call after. */
export type AuditSubject = ({ tool: string } | { resource: string } | { prompt: string }) & {
  /** The alias of the upstream that it belongs to. */
  upstream?: string
}

/**
 * The subject of a request, looked up once per call: the registered item, its name in the audit log, and the scopes a
 * caller needs.
 */
export interface Target<T = unknown> {
  readonly auditSubject?: AuditSubject
  /** Its name in the operator's options. */
  readonly accessName?: string
  readonly scopes: readonly string[]
  readonly item?: T
  /** The error for a caller that lacks the scopes, where it is not that of the method. */
  readonly unknown?: () => McpError
}
