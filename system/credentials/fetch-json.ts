import { isLoopback, readBounded } from '../../lib/network.js'

const TIMEOUT = 5_000
const MAX_BYTES = 512 * 1024

/** Fetches a JSON document, within limits of time and size and without following redirects. */
export async function fetchJson (url: URL, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)])
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${url.href} answered with status ${response.status}`)
  }
  const bytes = await readBounded(response, MAX_BYTES, () => new Error(`${url.href} sent more than ${MAX_BYTES} bytes`))
  return JSON.parse(bytes.toString()) as unknown
}

/** True for a URL that may be fetched: https, or http on this machine, without user and password. */
export const isSafe = ({ protocol, hostname, username, password }: URL): boolean =>
  username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
