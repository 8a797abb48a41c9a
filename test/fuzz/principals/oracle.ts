import { WHO, type Head, type Who } from '../case.js'
import { isObject } from '../expect.js'
import type { Reply } from '../http-line.js'
import type { Fault, ReceivedMessage } from '../oracle.js'
import { MARKS, SECRETS } from './callers.js'

/** What a request showed and named: enough to judge its reply. */
export interface Visit {
  head: Head
  /** The caller that its credential identifies. */
  holder: Who | undefined
  /** True when the message states that it needs no session. */
  stateless: boolean
  /** Whose session or stream each known id is. */
  owners: ReadonlyMap<string, Who>
}

const PUBLIC = ['status', 'live', 'ready']
const HEALTH = /^\/+(health|mcp\/\.\.\/health)\/?($|\?)/

/** What is wrong with a text that reached a connection of that caller, or of none. */
export function faultsOfText (text: string, holder: Who | undefined): Fault[] {
  const foreign = WHO.filter(who => who !== holder && text.includes(MARKS[who]))
  return [
    ...foreign.map((who): Fault => ({
      kind: 'isolation',
      text: `${holder ?? 'a caller without a credential'} hears what belongs to ${who}: ${text.slice(0, 500)}`
    })),
    // Bob can write no note, so there is none whose change may be announced to him.
    ...(holder === 'bob' && /"notifications\/resources\/updated".*"note:/.test(text)
      ? [{ kind: 'isolation', text: `bob hears of a note: ${text.slice(0, 500)}` } as const]
      : []),
    ...faultsOfSecrets(text)
  ]
}

/** Credentials in a text. */
export function faultsOfSecrets (text: string): Fault[] {
  return SECRETS.filter(secret => text.includes(secret)).map(secret => ({
    kind: 'secret',
    text: `${secret.slice(0, 6)}… in ${text.slice(0, 500)}`
  }))
}

/** What is wrong with a reply, whatever its message is. */
export function faultsOfReply (reply: Reply, visit: Visit): Fault[] {
  const { status, headers, body } = reply
  const exchange = `${visit.head.method} ${visit.head.path}: ${status} ${body.slice(0, 300)}`
  const faults: Fault[] = faultsOfText(`${[...headers].flat().join(' ')} ${body}`, visit.holder)
  if (isSuccess(status) && visit.holder === undefined && !isPublic(reply, visit.head)) {
    faults.push({ kind: 'access', text: `let in without a right credential: ${exchange}` })
  }
  if (isSuccess(status) && status !== 101 && !isError(body) && namesForeign(visit)) {
    faults.push({ kind: 'isolation', text: `${visit.holder} uses the session of another: ${exchange}` })
  }
  if (status === 401) faults.push(...faultsOfChallenge(reply, visit, exchange))
  if (status === 429 && visit.holder !== undefined && body.includes('wrong credentials')) {
    faults.push({ kind: 'access', text: `${visit.holder} is refused for the wrong credentials of others: ${exchange}` })
  }
  if ((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) {
    faults.push({ kind: 'access', text: `no Retry-After: ${exchange}` })
  }
  if (
    [401, 403, 429].includes(status) &&
    visit.head.method !== 'HEAD' &&
    !/^\{"jsonrpc":"2\.0".*"error":\{"code":-32\d{3},/.test(body)
  ) { faults.push({ kind: 'access', text: `a refusal that is no JSON-RPC error: ${exchange}` }) }
  return faults
}

/** A cursor or request state of another that was accepted. */
export function faultsOfSeals (
  sent: ReceivedMessage[],
  received: ReceivedMessage[],
  foreign: ReadonlySet<unknown>
): Fault[] {
  const tries = sent.filter(
    message =>
      sealsIn(message).some(seal => foreign.has(seal)) && sent.filter(({ id }) => id === message.id).length === 1
  )
  return tries
    .filter(({ id }) => received.some(answer => answer.id === id && answer.result !== undefined))
    .map(message => ({
      kind: 'isolation',
      text: `what was sealed for another is accepted: ${JSON.stringify(message).slice(0, 300)}`
    }))
}

function sealsIn ({ method, params }: ReceivedMessage): unknown[] {
  if (!isObject(params)) return []
  return typeof method === 'string' && method.endsWith('/list')
    ? [params.cursor]
    : params.name === 'ask_about'
      ? [params.requestState]
      : []
}

export const isSuccess = (status: number): boolean => status === 101 || (status >= 200 && status < 300)

function faultsOfChallenge ({ headers }: Reply, { holder, head }: Visit, exchange: string): Fault[] {
  const challenge = headers.get('www-authenticate') ?? ''
  return [
    ...(challenge.startsWith('Bearer ') ? [] : [{ kind: 'access', text: `no challenge: ${exchange}` } as const]),
    // A ticket may have been used by another request meanwhile.
    ...(holder !== undefined &&
    !head.path.includes('ticket') &&
    !head.headers.some(([, value]) => value.includes('ticket.'))
      ? [{ kind: 'access', text: `${holder} is refused with the right key: ${exchange}` } as const]
      : [])
  ]
}

/** What is no message of the protocol needs no session to be refused. */
const isError = (body: string): boolean =>
  /^\{"jsonrpc":"2\.0",("id":("(?:[^"\\]|\\.)*"|[-\d]+|null),)?"error":/.test(body)

function isPublic ({ status, body }: Reply, { method, path }: Head): boolean {
  if (method === 'OPTIONS') return status === 204 && body === ''
  if (method === 'HEAD') return body === '' && HEALTH.test(path)
  return (
    method === 'GET' &&
    HEALTH.test(path) &&
    Object.keys(JSON.parse(body) as object).every(name => PUBLIC.includes(name))
  )
}

/**
 * True when a request names what belongs to another caller, in a place where that counts; a WebSocket has no other
 * session than itself.
 */
function namesForeign ({ head: { method, path, headers }, holder, owners, stateless }: Visit): boolean {
  const foreign = (id: string) => owners.has(id) && owners.get(id) !== holder
  const named = /[?&]sessionId=([\w-]+)/.exec(path)?.[1]
  if (path.startsWith('/message')) return method === 'POST' && named !== undefined && foreign(named)
  if (!/^\/+mcp(\/sse)?\/?($|\?)/.test(path) || (method === 'POST' && stateless)) return false
  return (
    ['GET', 'POST', 'DELETE'].includes(method) &&
    headers.some(([name, value]) => /^(mcp|x)-session-id$/i.test(name) && foreign(value.trim()))
  )
}
