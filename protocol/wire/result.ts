import { checkLengths } from './result-size.js'

/** A result that is JSON text already, such as a page of a list that is written once and sent many times. */
export class PreparedResult {
  #tail: SharedTail | undefined

  constructor (readonly text: string) {
    // It is the same for all who get it.
    Object.freeze(this)
  }

  /** The rest of each message that carries it. Made once, so `encode` has to be the same each time. */
  tail (encode: (result: PreparedResult) => string): SharedTail {
    this.#tail ??= new SharedTail(`,"result":${encode(this)}}`)
    return this.#tail
  }
}

/** What many messages end with, behind their ids: as text, and as bytes for those who send bytes. */
export class SharedTail {
  #bytes: Buffer | undefined

  constructor (readonly text: string) {}

  get bytes (): Buffer {
    this.#bytes ??= Buffer.from(this.text)
    return this.#bytes
  }
}

/** Throws when the result is not a JSON object: clients could not read it. */
export function resultToJson (result: object | PreparedResult): string {
  return result instanceof PreparedResult ? result.text : `${resultToOpenJson(result)}}`
}

/** The same without its last brace, for those who have something to add. */
export function resultToOpenJson (result: object | PreparedResult): string {
  if (result instanceof PreparedResult) return result.text.slice(0, -1)
  if (isPlainText(result)) return openPlainText(result)
  checkLengths(result)
  const text = JSON.stringify(result) as string | undefined
  if (text?.startsWith('{') !== true) throw new Error('a method has to answer with an object')
  return text.slice(0, -1)
}

/** True for what has to be awaited, a promise of ours or not. */
export const isThenable = (value: unknown): value is PromiseLike<object | PreparedResult> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') && typeof (value as { then?: unknown }).then === 'function'

interface PlainText { content: [{ type: 'text', text: string }], isError?: boolean }

/** True for what most tools answer with: one text, and nothing beside it. */
function isPlainText (result: object): result is PlainText {
  const { content, isError } = result as Partial<PlainText>
  if (!Array.isArray(content) || content.length !== 1 || !hasOnly(result, 'content', 'isError')) return false
  const [block] = content
  return (isError === undefined || typeof isError === 'boolean') && typeof block === 'object' && block !== null &&
    block.type === 'text' && typeof block.text === 'string' && hasOnly(block, 'type', 'text')
}

function hasOnly (value: object, one: string, other: string): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key in value) if (key !== one && key !== other) return false
  return true
}

// Half the price of leaving it to a serializer that does not know what comes.
function openPlainText ({ content: [{ text }], isError }: PlainText): string {
  const end = isError === undefined ? '}]' : isError ? '}],"isError":true' : '}],"isError":false'
  return `{"content":[{"type":"text","text":${quoted(text)}${end}`
}

/** What JSON writes otherwise than it is: control characters, quotes, backslashes, and halves of characters. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

// Looking for them takes a third of the time that copying around them does.
const quoted = (text: string): string => ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
