import type { HttpDialOptions, UrlAddress } from './http/dial-http.js'
import type { Dial } from './link.js'

export interface UrlDialOptions extends HttpDialOptions {
  /**
   * The interval between pings on a WebSocket, in milliseconds, and the most pings and pongs of the server in a second.
   */
  readonly heartbeat: number
  readonly maxPings: number
}

/**
 * Dials a server by its URL; `any` is Streamable HTTP, or HTTP+SSE where the server knows nothing else. The code of a
 * transport is loaded when it is dialled.
 */
export function dialUrl (
  kind: 'any' | 'http' | 'sse' | 'websocket',
  address: UrlAddress,
  options: UrlDialOptions
): Dial {
  return async (events, signal) => await (await load[kind](address, options))(events, signal)
}

type Load = (address: UrlAddress, options: UrlDialOptions) => Promise<Dial>

const load: Record<Parameters<typeof dialUrl>[0], Load> = {
  http: async (address, options) => (await import('./http/dial-http.js')).dialHttp(address, options),
  sse: async (address, options) => (await import('./sse/dial-sse.js')).dialSse(address, options),
  websocket: async (address, options) =>
    (await import('./websocket/dial-websocket.js')).dialWebSocket(address, options),
  any: async (address, options) => {
    const { AnyLink } = await import('./any-link.js')
    const http = await load.http(address, options)
    return async (events, signal) =>
      await new AnyLink(events, async (inner, closing) => (await load.sse(address, options))(inner, closing)).open(
        async inner => await http(inner, signal)
      )
  }
}
