import { now } from '../../lib/time/clock.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

/** Is told of each request to an upstream when it is answered or has failed; `failed` where the result reports a failure. */
export interface RequestObserver {
  readonly isEmpty: boolean
  notify (request: { upstream: string, method: string, ms: number, failed: boolean, error: unknown }): void
}

/** The same promise; the observer is told when it settles. */
export function observed (answer: Promise<Params>, upstream: string, method: string, observer: RequestObserver | undefined): Promise<Params> {
  if (observer === undefined || observer.isEmpty) return answer
  const sentAt = now()
  answer.then(
    ({ isError }) => observer.notify({ upstream, method, ms: now() - sentAt, failed: isError === true, error: undefined }),
    (error: unknown) => observer.notify({ upstream, method, ms: now() - sentAt, failed: false, error }))
  return answer
}
