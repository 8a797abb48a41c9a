/** `quiet` where the log has a line about the same already. */
export type Refusal = Error & { statusCode: number, headers?: Record<string, string>, because?: Because, quiet?: boolean }

/** What the log says of a refusal and the caller is not told: one of a few words, and what there is to add to it. */
export interface Because { reason: string, detail?: string | undefined }

const LATER = new Set([429, 503])

/** An HTTP refusal outside any JSON-RPC call. Fastify's error handler, ours or the host's, gives it its body. Who may try again is told when. */
export function refusal (statusCode: number, message: string, afterSeconds = 1): Refusal {
  return Object.assign(new Error(message), { statusCode, ...(LATER.has(statusCode) ? { headers: { 'retry-after': String(afterSeconds) } } : {}) })
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Error && 'statusCode' in error
