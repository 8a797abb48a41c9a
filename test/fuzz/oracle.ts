import type { Message } from '../support/specification/message.js'
import { revisions, type Revision } from '../support/specification/revisions.js'
import { schemaFaults, validating } from '../support/specification/schema.js'
import { META_KEYS } from './dictionary.js'
import { isId, isObject, messagesIn, type Expectation, type Id, type Tally } from './expect.js'

/** Something the server must not do. */
export interface Fault {
  kind:
    | 'unanswered'
    | 'unasked'
    | 'invalid'
    | 'leak'
    | 'internal'
    | 'status'
    | 'closed'
    | 'hang'
    | 'uncaught'
    | 'prototype'
    | 'died'
    | 'isolation'
    | 'access'
    | 'secret'
  text: string
}

/** A message of the server. */
export type ReceivedMessage = Record<string, unknown>

/** What no client may see: our own errors, stack traces, paths, what a tool did not mean to reveal. */
const LEAKS =
  /node_modules|\.[cm]?[jt]s:\d|Maximum call stack|\bat \S+ \(|file:\/\/\/(?!x|etc|\.)\S*\/build\/|Cannot read propert|is not a function|is not iterable|is not defined|Unexpected (token|end)|\bE(NOENT|CONNREFUSED|INVAL)\b|secret detail|Symbol\(/

const INTERNAL = /^Internal error/
/** It is there to fail. */
const MAY_FAIL = 'boom'

/** What is wrong with one text of the server, whatever it answers. */
export function faultsOf (text: string, sent: Buffer[], versions: string[]): Fault[] {
  if (LEAKS.test(text)) return [{ kind: 'leak', text }]
  const value = parsed(text)
  if (value === undefined) return [{ kind: 'invalid', text: `not JSON: ${text}` }]
  if (Array.isArray(value) && value.length === 0) return [{ kind: 'invalid', text: 'an empty array' }]
  return (Array.isArray(value) ? value : [value]).flatMap(message => faultsOfMessage(message, sent, versions))
}

/** What is missing, and what is too much. */
export function faultsOfTally (messages: ReceivedMessage[], { ids, blanks }: Tally): Fault[] {
  const received = count(messages)
  const missing = [...ids]
    .filter(([id, { min }]) => (received.ids.get(id) ?? 0) < min)
    .map(([id]): Fault => ({ kind: 'unanswered', text: `nothing answers id ${JSON.stringify(id)}` }))
  const surplus = [...received.ids]
    .filter(([id, times]) => times > (ids.get(id)?.max ?? 0))
    .map(([id, times]): Fault => ({ kind: 'unasked', text: `${times} answers to id ${JSON.stringify(id)}` }))
  if (received.blanks < blanks.min) missing.push({ kind: 'unanswered', text: 'nothing answers what cannot be read' })
  if (received.blanks > blanks.max) surplus.push({ kind: 'unasked', text: `${received.blanks} answers without an id` })
  return [...missing, ...surplus]
}

/** The same for what answers one message alone: it has to fit one way of answering in full. */
export function faultsOfAnswer (messages: ReceivedMessage[], expectation: Expectation): Fault[] {
  const faults = expectation.map(tally => faultsOfTally(messages, tally))
  return faults.find(list => list.length === 0) ?? faults[0] ?? []
}

/** True when everything that must come is there. */
export function isComplete (messages: ReceivedMessage[], { ids, blanks }: Tally): boolean {
  const received = count(messages)
  for (const [id, { min }] of ids) if ((received.ids.get(id) ?? 0) < min) return false
  return received.blanks >= blanks.min
}

/** Requests that were cancelled may get no answer. */
export function excuse ({ ids, blanks }: Tally, excused: Set<Id>): Tally {
  return { ids: new Map([...ids].map(([id, { min, max }]) => [id, { min: excused.has(id) ? 0 : min, max }])), blanks }
}

function faultsOfMessage (message: unknown, sent: Buffer[], versions: string[]): Fault[] {
  const wrong = envelopeFault(message)
  if (wrong !== undefined) return [{ kind: 'invalid', text: `${wrong}: ${JSON.stringify(message)}` }]
  const { id, error } = message as Message
  const asked = isId(id) ? sent.flatMap(messagesIn).filter(request => request.id === id) : []
  if (
    error !== undefined &&
    INTERNAL.test(error.message) &&
    !asked.some(({ params }) => isObject(params) && params.name === MAY_FAIL)
  ) { return [{ kind: 'internal', text: JSON.stringify(message) }] }
  return validating ? schemaFault(message as Message, asked, sent, versions) : []
}

// With the requests that bear the id in several revisions or methods, one that fits is enough.
function schemaFault (
  message: Message,
  asked: Array<Record<string, unknown>>,
  sent: Buffer[],
  versions: string[]
): Fault[] {
  const methods =
    asked.length === 0
      ? [undefined]
      : asked.map(({ method }) => (typeof method === 'string' && !(method in Object.prototype) ? method : undefined))
  const faults = candidates(sent, versions).flatMap(revision =>
    methods.map(method => schemaFaults(message, revision, method))
  )
  if (faults.some(list => list.length === 0)) return []
  return [{ kind: 'invalid', text: `${faults[0]?.join('; ')}: ${JSON.stringify(message)}` }]
}

/** The revisions a conversation may be in: those it began in, or any that it names. */
function candidates (sent: Buffer[], versions: string[]): Revision[] {
  const claims = sent.some(bytes => bytes.includes(META_KEYS[0] as string))
  const hasHandshake = sent.some(bytes => bytes.includes('initialize'))
  return revisions.filter(
    revision => versions.includes(revision.version) || (claims && revision.modern) || (hasHandshake && !revision.modern)
  )
}

function envelopeFault (message: unknown): string | undefined {
  if (!isObject(message)) return 'not an object'
  const { jsonrpc, id, method, params, result, error } = message
  if (jsonrpc !== '2.0') return 'no JSON-RPC 2.0'
  if (id !== undefined && id !== null && !isId(id)) return 'a bad id'
  if (method !== undefined) {
    return typeof method !== 'string' ||
      (params !== undefined && !isObject(params)) ||
      result !== undefined ||
      error !== undefined ||
      id === null
      ? 'a bad call'
      : undefined
  }
  if ((result === undefined) === (error === undefined)) return 'neither a result nor an error, or both'
  if (result !== undefined) return isObject(result) && isId(id) ? undefined : 'a bad result'
  return isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string'
    ? undefined
    : 'a bad error'
}

function count (messages: ReceivedMessage[]): { ids: Map<Id, number>, blanks: number } {
  const ids = new Map<Id, number>()
  let blanks = 0
  for (const message of messages) {
    if (message.method !== undefined) continue
    if (isId(message.id)) ids.set(message.id, (ids.get(message.id) ?? 0) + 1)
    else blanks++
  }
  return { ids, blanks }
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
