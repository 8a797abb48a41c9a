import { isObject, type Json, type JsonObject } from '../../client/contract.js'

/** A result of sampling that a person wrote. */
export const samplingAnswer = (text: string): JsonObject => ({ role: 'assistant', model: 'a person at the Patchbay console', content: { type: 'text', text }, stopReason: 'endTurn' })

/** What a message says; what is not text is named. */
export function textOfContent (content: Json | undefined): string {
  if (Array.isArray(content)) return content.map(textOfContent).join('\n')
  if (!isObject(content)) return typeof content === 'string' ? content : ''
  return typeof content.text === 'string' ? content.text : `[${String(content.type ?? 'something')}]`
}

/** The roots that were typed, one URI a line; those that are no file URI are wrong. */
export function rootsFrom (text: string): { roots: Array<{ uri: string }>, wrong: string[] } {
  const lines = text.split('\n').map(line => line.trim()).filter(line => line !== '')
  const isFile = (uri: string): boolean => /^file:\/\/\//.test(uri)
  return { roots: lines.filter(isFile).map(uri => ({ uri })), wrong: lines.filter(uri => !isFile(uri)) }
}
