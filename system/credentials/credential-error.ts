/** Why a credential is refused: a code for the log. */
export type RefusalReason =
  'no_credential' | 'no_identity' | 'credential_in_url' | 'not_bearer' | 'malformed_credential' | 'unknown_ticket' |
  'unknown_key' | 'expired_key' | 'unknown_credential' |
  'expired_token' | 'wrong_audience' | 'wrong_issuer' | 'wrong_signature' | 'unknown_signing_key' | 'invalid_token'

/**
 * A credential that is refused. The message is for the caller and reveals nothing; `reason`, `detail` and `cause` are
 * for the log.
 */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused'
  readonly reason: RefusalReason
  /** Says what was expected and what was given; never the credential or a secret part of it. */
  readonly detail: string | undefined

  constructor (
    message: string,
    reason: RefusalReason,
    { detail, ...options }: ErrorOptions & { detail?: string | undefined } = {}
  ) {
    super(message, options)
    this.reason = reason
    this.detail = detail
  }
}

/** It cannot be verified now whether a credential is valid, because the keys of the issuer are missing. */
export class CredentialUnknowable extends Error {
  override readonly name = 'CredentialUnknowable'
}
