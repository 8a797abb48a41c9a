/** Why a credential is not accepted, in words that can be counted and searched for. */
export type RefusalReason =
  'no_credential' | 'no_identity' | 'credential_in_url' | 'not_bearer' | 'malformed_credential' | 'unknown_ticket' |
  'unknown_key' | 'expired_key' | 'unknown_credential' |
  'expired_token' | 'wrong_audience' | 'wrong_issuer' | 'wrong_signature' | 'unknown_signing_key' | 'invalid_token'

/** A credential that is not accepted. The message is for the caller and gives nothing away; `reason`, `detail` and `cause` are for the log. */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused'
  readonly reason: RefusalReason
  /** What was wanted and what was given; never the credential or a part of it that is secret. */
  readonly detail: string | undefined

  constructor (message: string, reason: RefusalReason, { detail, ...options }: ErrorOptions & { detail?: string | undefined } = {}) {
    super(message, options)
    this.reason = reason
    this.detail = detail
  }
}

/** Nobody can tell now whether a credential is good. */
export class CredentialUnknowable extends Error {
  override readonly name = 'CredentialUnknowable'
}
