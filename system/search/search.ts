import { SearchFailure } from './failure.js'
import { fetchPage } from './fetch-page.js'
import type { Result } from './results-page.js'

export interface Search { query: string, max: number, timeout: number, signal: AbortSignal }

/**
 * Searches with DuckDuckGo's page for browsers without scripts, or a compatible service. Rejects with a
 * `SearchFailure`.
 */
export async function search (service: URL, { query, max, timeout, signal }: Search): Promise<Result[]> {
  signal.throwIfAborted()
  const stop = new AbortController()
  const cancel = () => stop.abort(signal.reason)
  signal.addEventListener('abort', cancel, { once: true })
  const timer = setTimeout(() => stop.abort(new SearchFailure('Network timeout')), timeout)
  try {
    const { html, url } = await fetchPage(queryUrl(service, query), stop.signal)
    // Loaded on first use: the HTML parser is slow to load, and most gateways never search.
    const { readResults } = await import('./results-page.js')
    return readResults(html, url, max)
  } finally {
    clearTimeout(timer)
    stop.abort()
    signal.removeEventListener('abort', cancel)
  }
}

function queryUrl (service: URL, query: string): URL {
  const url = new URL(service)
  url.searchParams.set('q', query)
  return url
}
