const EXAMPLE = 'such as redis://:password@redis.internal:6379'

/**
 * Says what the URL of a Redis server has to be, if this is not one. Contains no part of it, because the password may
 * be anywhere in it.
 */
export function expectedOfRedisUrl (text: string): string | undefined {
  if (!URL.canParse(text) || !canDecode(text)) {
    return `must be a URL, ${EXAMPLE}; write / ? # @ and % in a password as %2F %3F %23 %40 and %25`
  }
  const { hostname, pathname, search, hash } = new URL(text)
  if (hostname === '') return `must name a host, ${EXAMPLE}`
  if (search !== '' || hash !== '') return 'must be a URL without ? and #; write them in a password as %3F and %23'
  if (!/^(\/\d*)?$/.test(pathname)) return 'must end with the port, or with / and the number of a database'
}

/** The host, the port and the number of the database, for people. */
export function placeOf (url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port === '' ? '6379' : port}${pathname === '/' ? '' : pathname}`
}

/** The URL with a placeholder for its password. Text that is no URL of a Redis server is left as it is. */
export function withoutPassword (text: string): string {
  return text.replace(/^(rediss?:\/\/[^:/]*:).*@/s, '$1<your password>@')
}

function canDecode (url: string): boolean {
  const { username, password } = new URL(url)
  try {
    decodeURIComponent(username)
    decodeURIComponent(password)
    return true
  } catch {
    return false
  }
}
