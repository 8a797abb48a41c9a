export type Refusal = Error & { statusCode: number }

/** An HTTP refusal outside any JSON-RPC call. Fastify's error handler, ours or the host's, gives it its body. */
export function refusal (statusCode: number, message: string): Refusal {
  return Object.assign(new Error(message), { statusCode })
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Error && 'statusCode' in error
