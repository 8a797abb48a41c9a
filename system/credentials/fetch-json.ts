import { isLoopback } from '../../lib/network/loopback.js'

const TIMEOUT = 5_000
const MAX_BYTES = 512 * 1024

/** Gets a JSON document. Nothing is followed, and neither the time nor the size is the other end's choice. */
export async function fetchJson (url: URL, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' }, signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]) })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`${url.href} answered with status ${response.status}`)
  }
  return JSON.parse(await textOf(response, url)) as unknown
}

/** True for what may be asked: https, or plain http on this very machine. */
export const isSafe = ({ protocol, hostname, username, password }: URL): boolean =>
  username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))

// What counts is the size after decompression.
async function textOf (response: Response, { href }: URL): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`${href} sent more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
