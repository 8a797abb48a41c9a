/** An HTTP refusal outside any JSON-RPC call. Fastify's error handler, ours or the host's, gives it its body. */
export function refusal (statusCode: number, message: string): Error & { statusCode: number } {
  return Object.assign(new Error(message), { statusCode })
}
