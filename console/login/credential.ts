import { signal } from '@preact/signals'
import { ConnectionLost } from '../client/contract.js'
import { LoginFailed, isHeaderText, readLoginFacts, requestTicket, type OAuthFacts } from './ticket.js'
import type { Tokens } from './oauth.js'
import { takeReturned, type Returned } from './returned.js'
import { readTab, writeTab } from './tab-storage.js'

/**
 * The gateway takes no connection without a credential, and `need` says why. Connect again when `need` is undefined.
 */
export class LoginNeeded extends Error {}

export interface Need {
  /**
   * `missing`: none was given yet. `refused`: the one that was just given is wrong. `expired`: it worked before.
   * `failed`: a login with OAuth did not work.
   */
  reason: 'missing' | 'refused' | 'expired' | 'failed'
  /** For `failed`, in our words. */
  why?: string
  /** In the words of a server. */
  detail?: string | undefined
}

type Credential = { kind: 'key', key: string } | { kind: 'oauth', tokens: Tokens }

/** Why a person has to log in; undefined while nothing is asked for. */
export const need = signal<Need | undefined>(undefined)

/** How this page is logged in. `open`: no credential was needed so far. */
export const loginKind = signal<'open' | 'key' | 'oauth'>('open')

/** How to log in with OAuth; undefined where that is not possible. */
export const oauth = signal<OAuthFacts | undefined>(undefined)

/** True from the first connection on until everything is forgotten: the page holds what a caller saw and typed. */
export const wasUsed = signal(false)

const KEY = 'patchbay-key'

let credential = keptKey()
let worked = false
/** Grows when the caller changes, so that a late end of an earlier attempt does nothing to the next caller. */
let generation = 0
let returned = takeReturned()
let finishing: Promise<void> | undefined
let renewal: Promise<boolean> | undefined

/**
 * The subprotocols for one connection, with a new ticket where the gateway needs one. Rejects with LoginNeeded, or with
 * why the gateway does not answer.
 */
export async function openSocketProtocols (): Promise<string[]> {
  const begun = generation
  const facts = await readLoginFacts()
  oauth.value = facts.oauth
  if (facts.credential === 'none') {
    wasUsed.value = true
    return ['mcp']
  }
  if (returned !== undefined) {
    finishing ??= finishOAuth(returned).finally(() => { returned = undefined })
    await finishing
  }
  if (credential === undefined && facts.credential === 'asked') throw refuse(undefined)
  const first = await requestTicket(tokenOf(credential))
  if (begun !== generation) throw new LoginNeeded()
  const answer = first.kind === 'refused' && await renewToken() ? await requestTicket(tokenOf(credential)) : first
  if (begun !== generation) throw new LoginNeeded()
  if (answer.kind === 'refused') throw refuse(answer.detail)
  worked = wasUsed.value = true
  loginKind.value = credential?.kind ?? 'open'
  return ['mcp', `ticket.${answer.ticket}`]
}

/** Uses this API key, which has to be `isHeaderText`, from the next connection on. */
export function useKey (key: string, keepForTab: boolean): void {
  forget()
  credential = { kind: 'key', key }
  if (keepForTab) writeTab(KEY, key)
  need.value = undefined
}

/** Leaves the page for the authorization server; comes back with `need` set if that is not possible. */
export async function logInWithOAuth (scopes?: string[]): Promise<void> {
  const facts = oauth.peek()
  if (facts === undefined) return
  await import('./oauth.js')
    .then(async ({ beginLogin }) => await beginLogin(facts, scopes))
    .catch((error: unknown) => {
      fail(error)
    })
}

/** Forgets every credential. The caller closes the connection, and forgets what came over it. */
export function logOut (): void {
  forget()
  wasUsed.value = false
  need.value = { reason: 'missing' }
}

function forget (): void {
  generation++
  credential = undefined
  worked = false
  writeTab(KEY, undefined)
  loginKind.value = 'open'
}

function keptKey (): Credential | undefined {
  const key = readTab(KEY)
  if (key !== undefined && isHeaderText(key)) return { kind: 'key', key }
  writeTab(KEY, undefined)
  return undefined
}

const tokenOf = (held: Credential | undefined): string | undefined =>
  held?.kind === 'oauth' ? held.tokens.access : held?.key

async function finishOAuth (answer: Returned): Promise<void> {
  const { finishLogin } = await import('./oauth.js')
  try {
    credential = { kind: 'oauth', tokens: await finishLogin(answer) }
  } catch (error) {
    fail(error)
    throw new LoginNeeded()
  }
}

/**
 * Renews the tokens, once for all who wait for them. False if the authorization server refuses that; rejects if it does
 * not answer, for then they may be renewed later.
 */
async function renewToken (): Promise<boolean> {
  const held = credential
  if (held?.kind !== 'oauth') return false
  renewal ??= import('./oauth.js').then(async ({ renew }) => {
    const tokens = await renew(held.tokens)
    if (tokens !== undefined && credential === held) credential = { kind: 'oauth', tokens }
    return tokens !== undefined
  }).catch((error: unknown) => {
    // Tokens that were never accepted are not worth to wait for others.
    if (!worked) return false
    const { message, detail = '' } = failureOf(error)
    throw new ConnectionLost(`The login cannot be renewed now. ${message} ${detail}`)
  }).finally(() => { renewal = undefined })
  return await renewal
}

function refuse (detail: string | undefined): LoginNeeded {
  const reason = credential === undefined ? 'missing' : worked ? 'expired' : 'refused'
  forget()
  need.value = { reason, ...(reason === 'missing' ? {} : { detail }) }
  return new LoginNeeded()
}

function failureOf (error: unknown): Pick<LoginFailed, 'message' | 'detail'> {
  return error instanceof LoginFailed
    ? error
    : { message: 'The login did not work:', detail: error instanceof Error ? error.message : String(error) }
}

function fail (error: unknown): void {
  const { message, detail } = failureOf(error)
  need.value = { reason: 'failed', why: message, detail }
}
