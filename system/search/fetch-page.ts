import { MIMEType, TextDecoder } from 'node:util'
import { readBounded } from '../../lib/network.js'
import { connectionFailure, SearchFailure } from './failure.js'

export interface Page { url: URL, html: string }

const MAX_BYTES = 2 * 1024 * 1024
const MAX_REDIRECTS = 3
const REDIRECTS = [301, 302, 303, 307, 308]
// A page that asks for proof that a person is searching has status 202.
const PAGES = [200, 202]
const HEADERS = {
  'User-Agent': 'Mozilla/5.0 (compatible; mcp-patchbay)',
  Accept: 'text/html,application/xhtml+xml',
  'Accept-Language': 'en,*;q=0.5'
}

/**
 * Fetches a page of HTML. Redirects to other origins are refused. Abort the signal in any case afterwards: that ends a
 * response that was not read to its end.
 */
export async function fetchPage (url: URL, signal: AbortSignal): Promise<Page> {
  try {
    const response = await open(url, signal, MAX_REDIRECTS)
    const decoder = decoderFor(response)
    const bytes = await readBounded(
      response,
      MAX_BYTES,
      () => new SearchFailure('The search service sent more than 2 MiB')
    )
    return { url: new URL(response.url), html: decoder.decode(bytes) }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof SearchFailure ? error : connectionFailure(error)
  }
}

async function open (url: URL, signal: AbortSignal, redirects: number): Promise<Response> {
  const response = await fetch(url, { headers: HEADERS, redirect: 'manual', signal })
  if (PAGES.includes(response.status)) return response
  const location = response.headers.get('location')
  if (!REDIRECTS.includes(response.status) || location === null) {
    throw new SearchFailure(`The search service answered with status ${response.status}`)
  }
  if (redirects === 0) throw new SearchFailure(`The search service redirects more than ${MAX_REDIRECTS} times`)
  return await open(nextUrl(location, url), signal, redirects - 1)
}

function nextUrl (location: string, { href, origin, protocol }: URL): URL {
  const next = URL.canParse(location, href) ? new URL(location, href) : undefined
  if (next === undefined || next.username !== '' || next.password !== '') {
    throw new SearchFailure('The search service redirects to something that cannot be followed')
  }
  // A blob: URL has the origin of the URL that created it.
  if (next.origin !== origin || next.protocol !== protocol) {
    throw new SearchFailure(
      'The search service redirects to another host, which is not followed; if it has moved, set the option searchUrl to its new address'
    )
  }
  return next
}

function decoderFor (response: Response): TextDecoder {
  const type = mimeType(response.headers.get('content-type') ?? 'text/html')
  if (type === undefined || !['text/html', 'application/xhtml+xml'].includes(type.essence)) {
    throw new SearchFailure('The search service sent something that is not a results page')
  }
  try {
    return new TextDecoder(type.params.get('charset') ?? 'utf-8')
  } catch {
    throw new SearchFailure('The search service sent a page in a charset that is not known here')
  }
}

function mimeType (text: string): MIMEType | undefined {
  try {
    return new MIMEType(text)
  } catch {
    return undefined
  }
}
