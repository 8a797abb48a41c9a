import { isModern } from '../../protocol/revisions/table.js'
import { countLists, describeLists } from '../report/lint.js'
import type { ServerReading } from '../report/read-servers.js'
import type { Finding } from './finding.js'

/** Says how an upstream server is, and what to do where it does not work. */
export function describeServer (reading: ServerReading): Finding {
  const { alias: part, state, error, warnings, repairs, isRepaired, lastLines } = reading
  switch (state) {
    case 'disabled':
      return { part, level: 'note', text: 'it is disabled, and was not started' }
    case 'left out':
      return {
        part,
        level: 'down',
        text: `it is left out: ${warnings[0] ?? ''}`,
        advice: 'correct its entry; patchbay check says whether it is right',
        details: warnings.slice(1)
      }
    case 'failed':
      return {
        part,
        level: 'down',
        text: `it does not work: ${divide(error)[0]}`,
        advice: adviceFor(reading),
        details: [...warnings, ...lastLines.map(line => `| ${line}`)]
      }
  }
  const text = [countLists(reading), describeConnection(reading), ...describeSignIn(reading)].join('; ')
  // Repairs give only the author of the server something to do: patchbay lint lists them.
  const details = shorten(describeLists(isRepaired ? { ...reading, repairs: [] } : reading))
  if (warnings.length > 0 || (repairs.length > 0 && !isRepaired)) {
    return {
      part,
      level: 'warning',
      text,
      advice: warnings.length > 0
        ? 'clients do not get what is left out; report it to the author of the server'
        : 'some clients refuse the whole list; set schemas to safe',
      details
    }
  }
  const soon = signInEnds(reading)
  return soon === undefined ? { part, level: 'ok', text, details } : { part, level: 'warning', text, details, advice: soon }
}

/** A sign-in that cannot be renewed and ends within so many milliseconds is a warning. */
const SOON = 24 * 3_600_000

/** Who issued the sign-in to a server, and how long it lasts. */
function describeSignIn ({ signIn }: ServerReading): string[] {
  if (signIn?.state !== 'signed in') return []
  const { issuer = '', expiresAt, isRenewable = false, callers } = signIn
  if (callers !== undefined) return [`each caller signs in; so many have: ${callers}`]
  const until = expiresAt === undefined ? 'without an end' : `until ${new Date(expiresAt).toISOString()}`
  return [`signed in at ${issuer}, ${isRenewable ? 'renewed by itself' : until}`]
}

/** Says what to do about a sign-in that ends soon, or is for too little; undefined where there is nothing to do. */
function signInEnds ({ alias, signIn }: ServerReading): string | undefined {
  const { state, why, expiresAt = Infinity, isRenewable = false, callers } = signIn ?? {}
  if (callers !== undefined) return undefined
  if (state === 'needs sign-in') return `${why ?? 'it needs a sign-in'}: run patchbay login ${alias}`
  return !isRenewable && expiresAt < Date.now() + SOON
    ? `the sign-in ends soon, and cannot be renewed: run patchbay login ${alias}`
    : undefined
}

/** Its transport and era, and how long it took. */
function describeConnection ({ transport, revision, ms }: ServerReading): string {
  const era = revision === undefined ? '' : `, ${eraOf(revision)} (${revision})`
  return `${transport}${era}, ready after ${(ms / 1_000).toFixed(1)} s`
}

/** The era of a version of the protocol. */
export const eraOf = (revision: string): 'stateless' | 'stateful' => isModern(revision) ? 'stateless' : 'stateful'

/** The most lines about one server. */
const MAX_DETAILS = 10

const shorten = (lines: readonly string[]): string[] => lines.length <= MAX_DETAILS
  ? [...lines]
  : [...lines.slice(0, MAX_DETAILS), `and ${lines.length - MAX_DETAILS} more, which patchbay lint prints`]

/** Divides a sentence into what is wrong, and what to do, which is behind its first semicolon. */
function divide (sentence = ''): [text: string, advice: string] {
  const [text = '', ...advice] = sentence.split('; ')
  return [text, advice.join('; ')]
}

function adviceFor ({ alias, error = '', url, lastLines, hasCredential, signIn }: ServerReading): string {
  if (signIn?.state === 'needs sign-in' || /\b401\b|sign-in/.test(error)) {
    return hasCredential
      ? 'it does not accept its credential: correct the header Authorization in its entry'
      : `run patchbay login ${alias} with the same options, or put a credential into headers of its entry`
  }
  const [, own] = divide(error)
  if (url !== undefined) return `${own || 'look whether it runs, and whether a proxy or firewall is between'}: ${url}`
  if (/not ready within|did not answer/.test(error)) {
    return 'run its command in a terminal to see what it waits for; if it is only slow, try --timeout SECONDS, and startTimeout in its entry'
  }
  return own || `run its command in a terminal to see why${lastLines.length > 0 ? '; what it wrote last is below' : ''}`
}
