import type { Revision } from '../../protocol/revisions/revision.js'
import { errors } from '../../protocol/wire/errors.js'

const RESULT_TYPES = new Set<unknown>([undefined, 'complete', 'input_required'])

/** Throws when a stateless upstream answered a method with a kind of result that is not known, or that the method does not allow. */
export function checkResultType (type: unknown, method: string, revision: Revision, upstream: string): void {
  if (!RESULT_TYPES.has(type)) throw errors.upstreamFailed(upstream, `it answered ${method} with an unknown resultType`)
  if (type === 'input_required' && !revision.mayRequestInput(method)) throw errors.upstreamFailed(upstream, `it answered ${method} with input_required, which that method does not allow`)
}
