import type { Call } from '../../../protocol/dispatch/call.js'
import { codes, errors, isMcpError, type McpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { carryState } from './carried-state.js'
import { MAX_QUESTIONS } from './input-required.js'
import { isAnswerable } from './question.js'

/** True for the error with which an upstream demands that pages are opened first. */
export const demandsPages = (error: unknown): error is McpError =>
  isMcpError(error) && error.code === codes.urlElicitationRequired

/**
 * The pages that such an error demands, as questions: stateless revisions do not have the error. The client's next
 * request is a new call to the upstream.
 */
export function requiredPages ({ data }: McpError, call: Call, upstream: string): Record<string, unknown> {
  const elicitations = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : []
  if (elicitations.length > MAX_QUESTIONS) {
    throw errors.upstreamFailed(upstream, `it wants more than ${MAX_QUESTIONS} pages to be opened`)
  }
  const inputRequests = Object.fromEntries(elicitations.map((page: unknown, index) => {
    if (!isObject(page) || typeof page.url !== 'string' || typeof page.message !== 'string') {
      throw errors.upstreamFailed(upstream, 'a page that it wants to be opened has no url or message')
    }
    return [
      `page-${index + 1}`,
      { method: 'elicitation/create', params: { mode: 'url', message: page.message, url: page.url } }
    ]
  }))
  if (elicitations.length === 0 || !call.revision.mayRequestInput(call.method)) {
    throw errors.upstreamFailed(upstream, 'it wants pages to be opened, and names none or may not ask')
  }
  const question = { method: 'elicitation/create', params: { mode: 'url' } }
  if (!isAnswerable(question, call.capabilities, call.revision)) {
    throw errors.missingCapability({ elicitation: { url: {} } })
  }
  return { resultType: 'input_required', inputRequests, requestState: carryState(call, { upstream }) }
}
