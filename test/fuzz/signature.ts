import type { Opening } from './case.js'
import { METHODS } from './dictionary.js'
import { isId, isObject, messagesIn, type Id } from './expect.js'
import type { ReceivedMessage } from './oracle.js'

/** What a conversation showed, in a few words each: a cheap stand-in for coverage. */
export function signaturesOf (
  opening: Opening,
  sent: Buffer[],
  received: ReceivedMessage[],
  more: string[] = []
): string[] {
  const methods = new Map<Id, string>()
  for (const { id, method } of sent.flatMap(messagesIn)) {
    if (isId(id)) methods.set(id, typeof method === 'string' && METHODS.includes(method) ? method : '?')
  }
  const replies = received.map(message => inWords(message, methods))
  return [...new Set([...replies, ...more])].map(word => `${opening} ${word}`)
}

function inWords ({ id, method, result, error }: ReceivedMessage, methods: Map<Id, string>): string {
  if (method !== undefined) return String(method)
  const asked = isId(id) ? methods.get(id) ?? '?' : 'blank'
  if (isObject(error)) return `${asked} ${String(error.code)} ${shape(String(error.message))}`
  if (!isObject(result)) return 'no message'
  const { isError, resultType, content } = result as {
    isError?: boolean
    resultType?: string
    content?: Array<{ text?: string }>
  }
  return `${asked} ${isError === true ? `isError ${shape(content?.[0]?.text ?? '')}` : `ok ${resultType ?? ''}`}`
}

/** The text of a fault without the message it is about. */
function shape (text: string): string {
  const [head = '', rest = ''] = text.split(/:(.*)/s)
  const words = /method not found/i.test(head) ? '' : rest
  return `${head}:${words}`
    .replace(/"[^"]*"?/g, '"')
    .replace(/[^\x20-\x7e]+/g, '')
    .replace(/[-\d.]+/g, '0')
    .slice(0, 60)
}
