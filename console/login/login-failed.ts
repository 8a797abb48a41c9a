/** Why a login did not work: a sentence of ours, and what others said, which is shown as text of theirs. */
export class LoginFailed extends Error {
  constructor (message: string, readonly detail?: string) { super(message) }
}
