/** A credential that is not accepted. The message is for the caller and gives nothing away; `cause` is for the log. */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused'
}

/** Nobody can tell now whether a credential is good. */
export class CredentialUnknowable extends Error {
  override readonly name = 'CredentialUnknowable'
}
