import type { Dial, Link, LinkEvents, LinkLimits } from '../link.js'
import { openClient, type HttpDialOptions, type UrlAddress } from '../http/dial-http.js'
import { SseLink, type SseTarget } from './sse-link.js'

/** Dials HTTP+SSE. The link is there when the server has said where messages are posted. */
export function dialSse (address: UrlAddress, options: HttpDialOptions): Dial {
  return async (events, signal) => {
    const { credential } = options
    return await openSse({ ...(await openClient(address, options)), credential }, options, events, signal)
  }
}

/** Opens the stream. The signal ends the attempt. */
export async function openSse (
  target: SseTarget,
  limits: LinkLimits,
  events: LinkEvents,
  signal: AbortSignal
): Promise<Link> {
  signal.throwIfAborted()
  let stop = () => {}
  try {
    return await new Promise<Link>((resolve, reject) => {
      const link: SseLink = new SseLink(target, limits, events, failure =>
        failure === undefined ? resolve(link) : reject(failure)
      )
      stop = () => {
        void link.close()
      }
      signal.addEventListener('abort', stop, { once: true })
      link.open()
    })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
