import { isId, type Id } from '../../protocol/wire/jsonrpc.js'
import { scanEnvelope } from '../../protocol/wire/message-scan.js'

/**
 * The id that a response ends with, as the official TypeScript SDK writes it. Two braces would end an object inside of
 * the result.
 */
const LAST_MEMBER = /,\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,1024}"|-?\d{1,16})\s*\}\s*$/
const OPEN_OBJECT = 0x7b

/**
 * The id of the request that a line answers which is JSON-RPC, but no message that can be read. Undefined for
 * everything else, such as a log line with an id.
 */
export function idOfAnswer (line: Buffer): Id | undefined {
  if (!line.includes('"jsonrpc"')) return undefined
  const { id, hasMethod } = scanEnvelope(line, 0, line.length)
  return hasMethod ? undefined : parseId(id)
}

/**
 * Finds what an over-long line concerns of which only both ends are there: the request that it answers,
 * `{ id: undefined }` when that cannot be known, and undefined when it is no response.
 */
export function concernOf (head: Buffer, tail: Buffer): { id: Id | undefined } | undefined {
  const { id, hasMethod } = scanEnvelope(head, 0, head.length)
  if (hasMethod || head[0] !== OPEN_OBJECT) return undefined
  return { id: parseId(id ?? LAST_MEMBER.exec(tail.toString())?.[1]) }
}

function parseId (json: string | undefined): Id | undefined {
  try {
    const id: unknown = json === undefined ? undefined : JSON.parse(json)
    return isId(id) ? id : undefined
  } catch {
    return undefined
  }
}
