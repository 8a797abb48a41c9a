import type { NodeMessage } from './message.js'

type Members = Record<string, unknown>

/** A message of another node from its JSON; undefined for what is not one, and for kinds that this version does not know. */
export function decodeNodeMessage (text: string): NodeMessage | undefined {
  const value = parse(text)
  return isObject(value) && isMessage(value) ? value as unknown as NodeMessage : undefined
}

function isMessage ({ kind, session, principal, text, number, question }: Members): boolean {
  if (kind === 'passed') return isText(session) && isText(text) && (principal === undefined || isText(principal))
  if (kind === 'question') return Number.isSafeInteger(number) && isObject(question) && isText(question['kind'])
  return kind === 'answer' && Number.isSafeInteger(number)
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
