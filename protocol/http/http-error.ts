import { codes, type McpError, type RefusalReason } from '../wire/errors.js'

/** Why a request was refused, for the audit log; the client does not see it. */
export interface AuditReason { reason: string, detail?: string | undefined }

interface HttpErrorDetails { headers?: Record<string, string>, audit?: AuditReason, isLogged?: boolean }

/**
 * A request that is refused with an HTTP status, outside any JSON-RPC call. The error handler, ours or the host
 * application's, writes its body.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  /** Stable, in the manner of Fastify's own codes; the text may change. */
  readonly code: `PATCHBAY_${string}`
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly audit: AuditReason | undefined
  /** True where the audit log has a line about this kind of refusal already. */
  readonly isLogged: boolean
  /** Set where the request was refused for its caller or a limit, not for its form. */
  refusal: RefusalReason | undefined = undefined

  constructor (
    code: `PATCHBAY_${string}`,
    statusCode: number,
    message: string,
    { headers = {}, audit, isLogged = false }: HttpErrorDetails = {}
  ) {
    super(message)
    this.code = code
    this.statusCode = statusCode
    this.headers = headers
    this.audit = audit
    this.isLogged = isLogged
  }
}

/** True for the errors of the table `httpErrors`; an error of Fastify or of the host application is none of them. */
export const isHttpError = (error: unknown): error is HttpError => error instanceof HttpError

/** The HTTP status of a JSON-RPC error. Most are responses like any other, with 200. */
export function statusOf (error: McpError, revision: { readonly unknownMethodStatus: number } | undefined): number {
  if (error.status !== undefined) return error.status
  if (error.code === codes.parse || error.code === codes.invalidRequest) return 400
  return error.code === codes.methodNotFound ? revision?.unknownMethodStatus ?? 200 : 200
}
