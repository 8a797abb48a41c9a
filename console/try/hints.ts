import { isObject, type JsonObject } from '../client/contract.js'

interface Hint { words: string, tone: '' | 'good' | 'warn' | 'bad' }

/** What a tool says of itself, in words. Hints are the server's claims. */
export function hintsOf ({ annotations }: JsonObject): Hint[] {
  const { readOnlyHint, idempotentHint, openWorldHint } = isObject(annotations) ? annotations : {}
  const hints: Hint[] = []
  if (readOnlyHint === true) hints.push({ words: 'reads only', tone: 'good' })
  else if (isDestructive({ annotations: annotations ?? null })) hints.push({ words: 'destructive', tone: 'bad' })
  if (readOnlyHint === false && isObject(annotations) && annotations.destructiveHint === false) hints.push({ words: 'changes things', tone: 'warn' })
  if (idempotentHint === true && readOnlyHint !== true) hints.push({ words: 'safe to repeat', tone: '' })
  if (openWorldHint === true) hints.push({ words: 'reaches outside', tone: 'warn' })
  return hints
}

/** True for a tool that says it destroys something. One that says nothing does not ask for a confirmation each time. */
export function isDestructive ({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations.destructiveHint === true && annotations.readOnlyHint !== true
}
