import { createHmac, timingSafeEqual } from 'node:crypto'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { checkedLookup } from '../lib/address-check.js'

/** How old or how far ahead a signed message may be, in seconds. */
const TOLERANCE = 300
/** How long one delivery may take, in milliseconds. */
const TIMEOUT = 10_000

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Signs messages with a secret that both ends have, and checks them: HMAC-SHA-256 over id, time and body, with the
 * headers of the specification Standard Webhooks.
 */
export class WebhookSigner {
  readonly #key: Buffer

  /** A secret that begins with `whsec_` is Base64 behind that. */
  constructor (secret: string) {
    this.#key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  }

  /** The headers of a message that is sent now. */
  headersFor (id: string, body: string): Record<string, string> {
    const time = String(Math.floor(Date.now() / 1_000))
    return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${this.#sign(id, time, body).toString('base64')}` }
  }

  /** Finds why a message is not to be believed; undefined where its signature and its time are right. */
  mistakeOf (headers: Headers, body: Uint8Array): string | undefined {
    const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => headers[name])
    if (typeof id !== 'string' || typeof time !== 'string' || typeof signatures !== 'string') {
      return 'the headers webhook-id, webhook-timestamp and webhook-signature are needed'
    }
    const wanted = this.#sign(id, time, body)
    const isRight = signatures.split(' ').slice(0, 10).some(each => {
      const given = Buffer.from(each.startsWith('v1,') ? each.slice(3) : '', 'base64')
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    })
    if (!isRight) return 'the signature is not one of this message'
    // The time is signed, so whoever has the secret wrote it.
    const isTimely = /^\d{1,12}$/.test(time) && Math.abs(Date.now() / 1_000 - Number(time)) <= TOLERANCE
    return isTimely ? undefined : `the message is older than ${TOLERANCE} s, or the clocks differ by more than that`
  }

  #sign (id: string, time: string, body: string | Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(`${id}.${time}.`).update(body).digest()
  }
}

/**
 * Posts JSON to a URL that the operator chose; settles to the HTTP status. Follows no redirect, reads no body, and
 * connects to no network into which the name of the host was moved since. `lookup` is kept for all posts to one URL.
 */
export async function postJson (
  url: URL,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
  lookup: ReturnType<typeof checkedLookup>
): Promise<number> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return await new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      headers: { 'user-agent': 'mcp-patchbay', ...headers, 'content-type': 'application/json' },
      agent: false,
      lookup,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)])
    })
    request.on('error', reject)
    request.on('response', ({ statusCode = 0 }) => {
      resolve(statusCode)
      request.destroy()
    })
    request.end(body)
  })
}
