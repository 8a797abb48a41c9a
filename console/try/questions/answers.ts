import { isObject, type Json, type JsonObject } from '../../client/contract.js'

/** A result of sampling that a person wrote. */
export const samplingAnswer = (text: string): JsonObject => ({
  role: 'assistant',
  model: 'a person at the Patchbay console',
  content: { type: 'text', text },
  stopReason: 'endTurn'
})

/** The text of a message's content; a block that is no text is named. */
export function textOfContent (content: Json | undefined): string {
  return Array.isArray(content) ? content.map(textOfBlock).join('\n') : textOfBlock(content)
}

function textOfBlock (block: Json | undefined): string {
  if (!isObject(block)) return typeof block === 'string' ? block : ''
  return typeof block.text === 'string' ? block.text : `[${typeof block.type === 'string' ? block.type : 'something'}]`
}

/** The roots that were typed, one URI a line; those that are no file URI are wrong. */
export function rootsFrom (text: string): { roots: Array<{ uri: string }>, wrong: string[] } {
  const lines = text.split('\n').map(line => line.trim()).filter(line => line !== '')
  const isFile = (uri: string): boolean => /^file:\/\/\//.test(uri)
  return { roots: lines.filter(isFile).map(uri => ({ uri })), wrong: lines.filter(uri => !isFile(uri)) }
}

/** The schema of an answer. An answer is an object, so a schema of anything else is taken for one of any object. */
export const formSchema = ({ requestedSchema }: JsonObject): JsonObject => ({
  ...(isObject(requestedSchema) ? requestedSchema : {}),
  type: 'object'
})
