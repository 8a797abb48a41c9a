import { now } from '../../lib/time.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

/**
 * Is told of each request to an upstream when it is answered or has failed; `failed` where the result reports a
 * failure.
 */
export interface RequestObserver {
  readonly isEmpty: boolean
  notify(request: {
    upstream: string
    server: object
    method: string
    ms: number
    failed: boolean
    error: unknown
  }): void
}

/**
 * Returns the promise that it is given; the observer is told when it settles. `server` is the entry of the upstream.
 */
export function observed (
  answer: Promise<Params>,
  server: { readonly alias: string },
  method: string,
  observer: RequestObserver | undefined
): Promise<Params> {
  if (observer === undefined || observer.isEmpty) return answer
  const sentAt = now()
  const upstream = server.alias
  answer.then(
    ({ isError }) =>
      observer.notify({ upstream, server, method, ms: now() - sentAt, failed: isError === true, error: undefined }),
    (error: unknown) => observer.notify({ upstream, server, method, ms: now() - sentAt, failed: false, error })
  )
  return answer
}
