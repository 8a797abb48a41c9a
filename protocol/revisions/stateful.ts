import { codes } from '../wire/errors.js'
import { resultToJson } from '../wire/result.js'
import { NEWEST } from './newest.js'
import type { Features, Revision } from './revision.js'

const MODERN_METHODS = new Set(['server/discover', 'subscriptions/listen', 'tasks/update'])
/** The methods of tasks that clients ask for in their requests; only the newest of these revisions has them. */
const TASK_METHODS = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel'])

const first: Features = {
  audio: false,
  toolAnnotations: false,
  completions: false,
  progressMessage: false,
  titles: false,
  structured: 'none',
  icons: false,
  elicitation: 'none',
  elicitationIds: false,
  samplingTools: false,
  execution: false
}
const streamable: Features = { ...first, audio: true, toolAnnotations: true, completions: true, progressMessage: true }
const structured: Features = { ...streamable, titles: true, structured: 'object', elicitation: 'form' }
const current: Features = {
  ...structured,
  icons: true,
  elicitation: 'url',
  elicitationIds: true,
  samplingTools: true,
  execution: true
}

/** The revisions with a handshake, oldest first. */
export const stateful: readonly Revision[] = [
  revision({ version: '2024-11-05', features: first, batches: true }),
  revision({ version: '2025-03-26', features: streamable, batches: true }),
  revision({ version: '2025-06-18', features: structured }),
  revision({
    version: NEWEST.legacy,
    features: current,
    polling: true,
    errorsAsResults: true,
    tasks: 'requested',
    has: method => !MODERN_METHODS.has(method)
  })
]

function revision (own: Pick<Revision, 'version' | 'features'> & Partial<Revision>): Revision {
  return {
    stateless: false,
    batches: false,
    polling: false,
    errorsAsResults: false,
    unknownResource: codes.resourceNotFound,
    unknownMethodStatus: 200,
    missingId: null,
    tasks: 'none',
    has: method => !MODERN_METHODS.has(method) && !TASK_METHODS.has(method),
    mayRequestInput: () => true,
    encode: resultToJson,
    cached: result => result,
    ...own
  }
}
