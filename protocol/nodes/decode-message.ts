import type { NodeMessage } from './message.js'

type Members = Record<string, unknown>

/** A message of another node from its JSON; undefined for what is not one, and for kinds that this version does not know. */
export function decodeNodeMessage (text: string): NodeMessage | undefined {
  const value = parse(text)
  return isObject(value) && isMessage(value) ? value as unknown as NodeMessage : undefined
}

const CHECKS: Record<NodeMessage['kind'], (message: Members) => boolean> = {
  passed: ({ session, principal, text }) => isText(session) && isText(text) && (principal === undefined || isText(principal)),
  question: ({ number, question }) => isNumber(number) && isQuestion(question),
  answer: ({ number }) => isNumber(number),
  asker: ({ number, says }) => isNumber(number) && (says === 'done' || (isObject(says) && isQuestion(says['question']))),
  answerer: ({ number, says }) => isNumber(number) && (says === 'unknown' || isObject(says)),
  waits: ({ numbers }) => areNumbers(numbers),
  works: ({ numbers }) => areNumbers(numbers)
}

function isMessage (message: Members): boolean {
  const { kind } = message
  return typeof kind === 'string' && Object.hasOwn(CHECKS, kind) && CHECKS[kind as NodeMessage['kind']](message)
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value)

const areNumbers = (value: unknown): boolean => Array.isArray(value) && value.every(isNumber)

const isQuestion = (value: unknown): boolean => isObject(value) && isText(value['kind'])

const isText = (value: unknown): boolean => typeof value === 'string'

// Importing the check of protocol/wire/json.ts here would make the bundler give that file a chunk of its own, which every start would load.
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
