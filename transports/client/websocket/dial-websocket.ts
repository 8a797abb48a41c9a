import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { WebSocket } from 'ws'
import type { UrlAddress } from '../http/dial-http.js'
import { describeNetworkError } from '../http/network-error.js'
import { statusError } from '../http/reply-status.js'
import { configuredHeaders } from '../http/request-headers.js'
import { bearerHeader } from '../credential.js'
import type { Dial, UrlLinkOptions } from '../link.js'
import { WebSocketLink, type WebSocketLinkOptions } from './websocket-link.js'

const CONNECT_TIMEOUT = 10_000
/** The stream under each socket that was opened. */
const bytesOf = new WeakMap<WebSocket, Readable>()

/** Dials a WebSocket. The subprotocol `mcp` is offered first; a server that chooses none is asked again without. */
export function dialWebSocket (
  { url, headers: configured }: UrlAddress,
  options: WebSocketLinkOptions & Pick<UrlLinkOptions, 'credential'>
): Dial {
  return async (events, signal) => {
    if (!URL.canParse(url)) throw new Error('its URL cannot be read; correct "url" of this server')
    const target = new URL(url)
    target.hash = ''
    const headers = configuredHeaders(target, configured)
    target.username = target.password = ''
    const { WebSocket: Socket } = await import('ws')
    const { credential } = options
    const token = credential?.token
    const explain = (status: number, replied: IncomingHttpHeaders): Error =>
      statusError(status, replied, { headers, credential, token })
    const open = (protocols: string[]): Promise<WebSocket> =>
      waitForOpening(
        new Socket(target, protocols, {
          headers: Object.fromEntries(pairs([...headers, ...bearerHeader(credential)])),
          maxPayload: options.maxMessage,
          perMessageDeflate: false,
          autoPong: false,
          handshakeTimeout: CONNECT_TIMEOUT,
          followRedirects: false
        }),
        explain,
        signal
      )
    const socket = await open(['mcp']).catch((error: unknown) => {
      if (
        error instanceof Error &&
        error.cause instanceof Error &&
        error.cause.message === 'Server sent no subprotocol'
      ) { return open([]) }
      throw error
    })
    return new WebSocketLink(socket, bytesOf.get(socket), options, events)
  }
}

function waitForOpening (
  socket: WebSocket,
  explain: (status: number, headers: IncomingHttpHeaders) => Error,
  signal: AbortSignal
): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const stop = (): void => { socket.terminate(); reject(signal.reason) }
    const settle = (failure?: Error): void => {
      signal.removeEventListener('abort', stop)
      socket.removeAllListeners()
      if (failure === undefined) return resolve(socket)
      // Whatever else goes wrong while it ends is of no interest.
      socket.on('error', () => {})
      socket.terminate()
      reject(failure)
    }
    socket.once('upgrade', response => { bytesOf.set(socket, response.socket) })
    socket.once('open', () => {
      // Nothing is read before the link listens.
      socket.pause()
      settle()
    })
    socket.once('error', error => settle(new Error(describeHandshake(error), { cause: error })))
    socket.once('unexpected-response', (_request, response) => {
      response.destroy()
      settle(explain(response.statusCode ?? 0, response.headers))
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function describeHandshake (error: Error): string {
  if (error.message === 'Opening handshake has timed out') return 'it did not answer in time'
  return /^(Invalid|Server sent|Missing)/.test(error.message)
    ? 'its answer is no WebSocket handshake'
    : describeNetworkError(error)
}

const pairs = (headers: string[]): [string, string][] =>
  headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as [string, string]] : []))
