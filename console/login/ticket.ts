/** The gateway's statement about logins. `maybe`: it may know this browser by other means. */
interface LoginFacts { credential: 'none' | 'asked' | 'maybe', oauth?: OAuthFacts }

/** `metadata`: where it names its authorization server. */
export interface OAuthFacts { clientId: string, redirectUri: string, metadata: string }

/** The gateway's answer to a request for a ticket. */
type Answer = { kind: 'ticket', ticket: string } | { kind: 'refused', detail: string | undefined }

/** Asked before each connection, because another gateway may answer after a restart. */
export const readLoginFacts = async (): Promise<LoginFacts> => await readJson('login.json')

/** Reads a document of the gateway. */
export async function readJson<T> (url: string): Promise<T> {
  const response = await fetch(url)
  if (!response.ok) throw new LoginFailed(`The gateway does not say how to log in (status ${response.status}):`, url)
  return await response.json() as T
}

/** The gateway lies beside the folder of the page. */
const TICKET = '../ticket'

/** Asks for a ticket for one connection. Rejects if the gateway cannot answer that now. */
export async function requestTicket (credential: string | undefined): Promise<Answer> {
  const response = await fetch(TICKET, {
    method: 'POST',
    headers: credential === undefined ? {} : { authorization: `Bearer ${credential}` }
  })
  if (response.ok) return { kind: 'ticket', ticket: (await response.json() as { ticket: string }).ticket }
  const detail = await textOf(response)
  if (![400, 401, 403].includes(response.status)) {
    throw new Error(detail ?? `it gave no ticket, but status ${response.status}`)
  }
  return { kind: 'refused', detail }
}

/** The message of a refusal, if it is JSON-RPC. */
async function textOf (response: Response): Promise<string | undefined> {
  const body = await response.json().catch(() => undefined) as { error?: { message?: unknown } } | undefined
  const message = body?.error?.message
  return typeof message === 'string' ? message : undefined
}

/**
 * True for a credential that can be sent: `fetch` throws for a header with characters outside of Latin-1, and keys and
 * tokens are ASCII without spaces.
 */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** Why a login did not work: a sentence of ours, and what others said, which is shown as text of theirs. */
export class LoginFailed extends Error {
  constructor (message: string, readonly detail?: string) { super(message) }
}
