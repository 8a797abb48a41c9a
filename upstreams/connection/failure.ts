/** A request that got no response from the upstream. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'

  /** `status` is that of the HTTP reply, if there was one. */
  constructor (message: string, readonly status: number | undefined) {
    super(message)
  }
}

/** A request that the upstream refused because it has forgotten the session: it was not run, and may be sent again after a new handshake. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'
}
