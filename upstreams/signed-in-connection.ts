import { SignInRequired, type Credential } from '../transports/client/credential.js'
import type { OpenConnection } from './ports.js'
import type { Supervisor } from './supervision/supervisor.js'

/** A connection that is kept open, and the token of its requests. */
export interface SignedInConnection {
  readonly supervisor: Supervisor<OpenConnection>
  /** Undefined where requests carry what is configured. */
  readonly credential: Credential | undefined
}

/**
 * Takes over a sign-in that was stored or removed: what waits for one is tried again, and what had one ends. Several
 * connections may have one credential.
 */
export async function takeOverSignIns (connections: readonly SignedInConnection[]): Promise<void> {
  const byCredential = new Map<Credential, Array<Supervisor<OpenConnection>>>()
  for (const { supervisor, credential } of connections) {
    if (credential === undefined) continue
    const known = byCredential.get(credential)
    if (known === undefined) byCredential.set(credential, [supervisor])
    else known.push(supervisor)
  }
  await Promise.all([...byCredential].map(async ([credential, supervisors]) => await takeOver(credential, supervisors)))
}

async function takeOver (credential: Credential, supervisors: Array<Supervisor<OpenConnection>>): Promise<void> {
  const { token, signedInAt } = credential
  await credential.load()
  // Not after a mere renewal: two gateways whose tokens a server refuses would make each other try for ever.
  const isNew = credential.token !== undefined && credential.signedInAt !== signedInAt
  for (const supervisor of supervisors) {
    if (isNew && supervisor.state === 'needs sign-in') supervisor.start(true)
    else if (token !== undefined && credential.token === undefined) {
      void supervisor.connection?.close(new SignInRequired(credential.absence))
    }
  }
}
