import { duration, trim } from '../parts/words.js'
import type { GatewayFacts, Health, Refusal, Stats, Subject } from '../client/watch-batch.js'

/** With thousands apart: `12,345`. */
export const count = (value: number): string => Math.round(value).toLocaleString('en')

/** `1 call`, `2 calls`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** A rate for people: `0`, `0.4`, `12`, `9,800`. */
export const rate = (value: number): string => value > 0 && value < 10 ? trim(value, 1) : count(value)

/** `0 %`, `0.4 %`, `12 %`; never `0 %` where there is an error. */
export function errorRate ({ calls, errors }: Pick<Stats, 'calls' | 'errors'>): string {
  if (calls === 0 || errors === 0) return '0 %'
  const percent = errors / calls * 100
  return percent < 0.1 ? 'under 0.1 %' : `${percent < 10 ? trim(percent, 1) : Math.round(percent)} %`
}

/** Undefined where it means nothing: without calls. */
export const percentile = (ms: number, calls: number): string | undefined => calls === 0 ? undefined : duration(ms)

/** The target of a call, without its method: the tool, the prompt or the resource. */
export const targetOf = ({ tool, prompt, resource }: Subject): string | undefined => tool ?? prompt ?? resource

export const OUTCOMES = ['ok', 'failed', 'error', 'denied', 'cancelled']

/** `ok`, `error -32602`, `denied by rules.2`. */
export const outcomeWords = (outcome: string, code?: number, rule?: string): string =>
  `${outcome}${rule === undefined || outcome !== 'denied' ? '' : ` by ${rule}`}${code === undefined ? '' : ` ${code}`}`

/** Failed, error and denied; a cancelled call is no error. */
export const isError = (outcome: string): boolean => outcome === 'failed' || outcome === 'error' || outcome === 'denied'

const HEALTH = new Map([
  ['healthy', 'Healthy'],
  ['degraded', 'Degraded: calls are answered, but something does not work'],
  ['overloaded', 'Overloaded: new calls are refused'],
  ['draining', 'Shutting down: calls in flight are finished, new calls are refused']
])

/** The first sentence about the health of the gateway; its reason is told apart, because it is text of the gateway. */
export function healthWords (health: Health | undefined): string {
  if (health === undefined) return 'Not known yet'
  return (
    HEALTH.get(health.status) ?? `${health.status}: ${health.ready ? 'calls are answered' : 'new calls are refused'}`
  )
}

const REASONS = new Map([
  ['rate', 'Too many calls by one caller'],
  ['tool_rate', 'Too many calls of one tool'],
  ['in_flight', 'Too many calls in flight'],
  ['pressure', 'The gateway was overloaded'],
  ['draining', 'The gateway was shutting down'],
  ['sessions', 'Too many sessions'],
  ['streams', 'Too many streams'],
  ['connections', 'Too many connections'],
  ['size', 'The message was too large'],
  ['auth', 'No valid credential, or not enough rights'],
  ['origin', 'A host or origin that is not allowed']
])

/** A refusal in words; a reason that this page does not know is told as it is, with its underscores as spaces. */
export function refusalWords ({ reason }: Pick<Refusal, 'reason'>): string {
  const words = REASONS.get(reason)
  if (words !== undefined) return words
  const plain = reason.replace(/^PATCHBAY_/, '').toLowerCase().replaceAll('_', ' ')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

const QUESTIONS = new Map([
  ['elicitation/create', 'waits for an answer of a person'],
  ['sampling/createMessage', 'waits for an answer of a model'],
  ['roots/list', 'waits for the roots of the client']
])

export const questionWords = (method: string): string => QUESTIONS.get(method) ?? `waits for an answer to ${method}`

/** How long counts are kept, in milliseconds. */
const WINDOW = 300_000

/**
 * Since when calls and refusals are counted, beside a number and in a sentence: the last five minutes, or less where
 * the gateway does not run for so long.
 */
export function windowWords (
  gateway: Pick<GatewayFacts, 'startedAt'> | undefined,
  now: number
): { short: string, sentence: string } {
  if (gateway === undefined || now - gateway.startedAt >= WINDOW) {
    return { short: 'last 5 min', sentence: 'in the last five minutes' }
  }
  const since = clock(gateway.startedAt)
  return { short: `since ${since}`, sentence: `since the gateway started at ${since}` }
}

/** The time of day where the page is: `14:03:09`. */
export function clock (at: number): string {
  const time = new Date(at)
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(part => String(part).padStart(2, '0')).join(':')
}
