/** Meanings of the close codes of a server. The reason that it gives is its own text and stays out. */
const WORDS: Record<number, string> = {
  1000: 'it closed the connection',
  1001: 'it is shutting down',
  1002: 'it saw a mistake in the WebSocket protocol',
  1003: 'it does not take messages of this kind',
  1005: 'it closed the connection',
  1006: 'the connection broke off',
  1007: 'it could not read a message',
  1008: 'it refuses what was sent',
  1009: 'a message was too large for it',
  1011: 'it failed; look at its log',
  1012: 'it is restarting',
  1013: 'it is overloaded; try again later',
  1014: 'the server behind it failed'
}

/** Says in words why a server closed a socket. */
export function describeClose (code: number): string {
  if (code === 4401 || code === 3000) {
    return 'it does not accept the credential; correct the header Authorization in "headers" of this server'
  }
  return WORDS[code] ?? `it closed the connection with code ${code}`
}
