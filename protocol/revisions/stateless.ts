import { codes } from '../wire/errors.js'
import { resultToOpenJson, type PreparedResult } from '../wire/result.js'
import { NEWEST } from './newest.js'
import type { Revision, Server } from './revision.js'

/** Methods of the handshake era that this revision removed. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/result',
  'tasks/list'
])

/** Only `tools/call`, `prompts/get` and `resources/read` of the specification may be answered with questions. */
const PLAIN_ANSWERS = new Set([
  'server/discover',
  'subscriptions/listen',
  'completion/complete',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/directory/read',
  'skills/list',
  'skills/get',
  'tasks/get',
  'tasks/update',
  'tasks/cancel'
])

/** The revision without a handshake: each request carries its version and capabilities in `_meta`. */
export const stateless: Revision = {
  version: NEWEST.modern,
  stateless: true,
  batches: false,
  polling: false,
  errorsAsResults: true,
  unknownResource: codes.invalidParams,
  unknownMethodStatus: 404,
  missingId: undefined,
  tasks: 'extension',
  features: {
    audio: true,
    toolAnnotations: true,
    completions: true,
    progressMessage: true,
    titles: true,
    structured: 'any',
    icons: true,
    elicitation: 'url',
    elicitationIds: false,
    samplingTools: true,
    execution: false
  },
  has: method => !REMOVED.has(method),
  mayRequestInput: method => !PLAIN_ANSWERS.has(method),
  encode,
  cached: (result, hints) => ({ ...hints, ...result })
}

// The stamp is spliced into the text: results are serialised once and never copied.
function encode (result: object | PreparedResult, server: Server): string {
  const text = resultToOpenJson(result)
  if ('_meta' in result) return encodeWithMeta(result as { _meta: object }, server)
  const type = 'resultType' in result ? '' : '"resultType":"complete",'
  return `${text}${text.length > 1 ? ',' : ''}${type}"_meta":${server.stamp}}`
}

function encodeWithMeta (result: { _meta: object }, server: Server): string {
  const _meta = { ...JSON.parse(server.stamp) as object, ...result._meta }
  return JSON.stringify({ resultType: 'complete', ...result, _meta })
}
