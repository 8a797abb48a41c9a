import { dialHttp, type HttpDialOptions, type UrlAddress } from './http/dial-http.js'
import type { Dial } from './link.js'

export interface UrlDialOptions extends HttpDialOptions {}

/** Dials a server by its URL. The code for its transport is loaded when it is dialled. */
export function dialUrl (kind: 'any' | 'http' | 'sse' | 'websocket', address: UrlAddress, options: UrlDialOptions): Dial {
  if (kind === 'http' || kind === 'any') return dialHttp(address, options)
  return () => Promise.reject(new Error(`the transport ${kind} cannot be dialled yet`))
}
