const UNREACHABLE = 'cannot be reached'

/** What an error of a connection to Redis most likely means, by its code or the first words of its message. */
const MEANINGS: Array<[RegExp, string]> = [
  [/^WRONGPASS/, 'refuses the user or the password of option redis'],
  [/^NOAUTH/, 'wants a password, and option redis has none'],
  [/^ERR (invalid DB index|DB index is out of range)/, 'has no database of the number in option redis'],
  [/^LOADING/, 'is starting: it reads its data'],
  [/^(ENOTFOUND|EAI_)/, `${UNREACHABLE} (the host name in option redis is not known)`],
  [/^Unknown RESP type/, `${UNREACHABLE} (another program answers at the port in option redis)`],
  [/^(EPROTO|ERR_SSL_)/, `${UNREACHABLE} (it does not speak TLS: option redis has to begin with redis://)`],
  [/^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/, `${UNREACHABLE} (its certificate is not trusted: see NODE_EXTRA_CA_CERTS in docs/scale-out.md)`]
]

/** Why Redis cannot be used, in words that callers may read: without addresses and passwords. */
export function describeFailure ({ code = '', message }: NodeJS.ErrnoException, isSecure: boolean): string {
  const known = MEANINGS.find(([pattern]) => pattern.test(code) || pattern.test(message))
  if (known !== undefined) return known[1]
  // A server without TLS waits for the rest of what it takes for a command.
  if (isSecure && message === 'Connection timeout') return `${UNREACHABLE} (does it speak TLS? option redis begins with rediss://)`
  return UNREACHABLE
}
