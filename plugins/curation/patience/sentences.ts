import { expiryOf, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import { text, type CallToolResult } from '../../../protocol/wire/content.js'

/** The URI of a call that was answered early, before its id. */
export const CALL_URI = 'patchbay://call/'

export const GET_RESULT = 'get_result'
export const CANCEL_RESULT = 'cancel_result'

/** The early answer to a call: where its result will be. `isListed` says which tools its client has. */
export function earlyResult (
  { id, tool, ...task }: TaskRecord,
  elapsed: number,
  isListed: (name: string) => boolean
): CallToolResult {
  const argument = `{"id":"${id}"}`
  const ways = [
    ...(isListed(GET_RESULT) ? [`call ${GET_RESULT} with ${argument}, which waits for it`] : []),
    `read ${CALL_URI}${id}`
  ]
  const sentences = [
    `${tool} still runs after ${secondsOf(elapsed)} s, and goes on`,
    `Do not call it again. For its result, ${ways.join(', or ')}`,
    ...(isListed(CANCEL_RESULT) ? [`To end it, call ${CANCEL_RESULT} with ${argument}`] : []),
    `All of this is forgotten at ${new Date(expiryOf({ id, tool, ...task })).toISOString()} at the earliest`
  ]
  const description = 'The result of a call that was answered before it ended, or its state'
  return {
    content: [
      text(`[${sentences.join('. ')}.]`),
      { type: 'resource_link', uri: CALL_URI + id, name: `Result of ${tool}`, description, mimeType: 'application/json' }
    ]
  }
}

/** The answer about a call that has no result yet. */
export function runningSentence ({ id, tool, createdAt, statusMessage }: TaskRecord): string {
  const state = statusMessage === undefined ? '' : ` (${statusMessage})`
  const since = `${secondsOf(Date.now() - createdAt)} s after it was answered early`
  return `[${tool} still runs${state}, ${since}. Call ${GET_RESULT} with {"id":"${id}"} again to wait on.]`
}

const secondsOf = (ms: number): number => Math.round(ms / 100) / 10
