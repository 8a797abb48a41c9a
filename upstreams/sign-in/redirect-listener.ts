import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignInFailed } from './guarded-fetch.js'

const PATH = '/callback'
const ORIGIN = 'http://127.0.0.1'

/** The address on this machine that the browser is sent back to. */
export interface RedirectListener {
  readonly redirectUri: string
  /**
   * Calls `take` with the parameters of each answer that has this state, until it is closed; what `take` returns, in
   * plain text, is shown in the browser. Others are refused, and `onForeign` hears of the first.
   */
  listen: (state: string, take: (parameters: URLSearchParams) => string, onForeign: () => void) => void
  close: () => void
}

/** Listens on 127.0.0.1, at this port or a free one. Throws in words where the port is in use. */
export async function openRedirectListener (port = 0): Promise<RedirectListener> {
  let answer = (_parameters: URLSearchParams, response: ServerResponse): void => page(response, 404, 'No sign-in waits.')
  const server = createServer((request, response) => {
    const target = request.url ?? '/'
    // The target of a request may be one that is no URL, such as `//`.
    if (!URL.canParse(target, ORIGIN)) return page(response, 400, 'This is no address.')
    const url = new URL(target, ORIGIN)
    if (request.method !== 'GET' || url.pathname !== PATH) page(response, 404, 'There is nothing here.')
    else answer(url.searchParams, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: unknown) => {
    throw new SignInFailed(
      `port ${port}, which "callbackPort" names, cannot be listened on (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}); end what uses it, or choose another`
    )
  })
  const { port: chosen } = server.address() as AddressInfo
  return {
    redirectUri: `http://127.0.0.1:${chosen}${PATH}`,
    listen: (state, take, onForeign) => {
      let isForeignTold = false
      answer = (parameters, response) => {
        if (parameters.get('state') === state) return page(response, 200, take(parameters))
        // Any page in a browser of this machine can send as many as it likes.
        if (!isForeignTold) onForeign()
        isForeignTold = true
        page(response, 400, 'This answer belongs to no sign-in that was begun here. It is not used.')
      }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

/** Nothing of the request is in the page. */
function page (response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      connection: 'close'
    })
    .end(
      `<!doctype html><html lang="en"><title>Patchbay</title><body style="font-family:sans-serif;margin:4em">${text}</body></html>`
    )
}
