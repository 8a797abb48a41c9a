import { STATUS_CODES } from 'node:http'
import { text, type CallToolResult, type ContentBlock } from '../../../protocol/wire/content.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { RouteReply } from './route-reply.js'

/** How much of the body of a failure the client gets, in characters. */
const MAX_FAILURE = 4_096

/** The result of a tool from the reply of a route. */
export function routeResult (reply: RouteReply, url: string): CallToolResult {
  const { statusCode } = reply
  if (statusCode >= 400) return { content: [text(failureText(reply))], isError: true }
  if (statusCode >= 300) {
    const { location } = reply.headers
    return { content: [text(`${statusOf(reply)}${location === undefined ? '' : `, to ${String(location)}`}`)] }
  }
  const { body } = reply
  if (body.length === 0) return { content: [text(statusOf(reply))] }
  const type = String(reply.headers['content-type'] ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? ''
  if (/[/+]json$/.test(type)) return jsonResult(body.toString('utf8'))
  if (/^text\/|[/+]xml$|javascript$|x-www-form-urlencoded$/.test(type)) return { content: [text(body.toString('utf8'))] }
  return { content: [blockOf(type, body.toString('base64'), url)] }
}

/** The status and the beginning of the body of a reply that is no success. */
export function failureText (reply: RouteReply): string {
  const payload = reply.body.toString('utf8')
  const wait = reply.headers['retry-after']
  const body = payload.length > MAX_FAILURE ? `${payload.slice(0, MAX_FAILURE)}…` : payload
  const lines = [statusOf(reply), ...(body === '' ? [] : [body])]
  return [...lines, ...(wait === undefined ? [] : [`Try again after ${String(wait)} (Retry-After)`])].join('\n')
}

const statusOf = ({ statusCode }: RouteReply): string =>
  `HTTP ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim()

function jsonResult (payload: string): CallToolResult {
  try {
    const value: unknown = JSON.parse(payload)
    return { content: [text(payload)], structuredContent: isObject(value) ? value : { result: value } }
  } catch {
    // The route says that it is JSON, and it is not: the client gets what there is.
    return { content: [text(payload)] }
  }
}

function blockOf (mimeType: string, data: string, url: string): ContentBlock {
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { uri: `route://${url}`, mimeType, blob: data } }
}
