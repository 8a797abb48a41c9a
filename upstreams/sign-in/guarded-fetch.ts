import { lookup } from 'node:dns/promises'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { rangesFrom } from '../../lib/address-check.js'
import { rangeOf, type AddressRange } from '../../lib/address-range.js'
import { isLoopback } from '../../lib/network.js'
import { visible } from '../../lib/one-line.js'

/** A refusal or a failure in words that people may read. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed'

  constructor (message: string) {
    super(visible(message))
  }
}

/** The request got no answer, or one that says to ask again later. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'

  constructor (message: string) {
    super(visible(message))
  }
}

const TIMEOUT = 15_000
const MAX_BYTES = 256 * 1024

interface FetchOptions {
  readonly method?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** True for replies whose body is not read. */
  readonly headOnly?: ((status: number) => boolean) | undefined
}

type Resolve = (name: string) => Promise<Array<{ address: string, family: number }>>

/**
 * Fetches what servers name: over https, or http on this machine, within limits of time and size, without following
 * redirects, and nothing in a network that the upstream itself is not in. The address that is connected to is the one
 * that was checked.
 */
export class GuardedFetch {
  readonly #allowed: ReadonlySet<AddressRange>
  readonly #timeout: number
  readonly #resolve: Resolve

  /**
   * `upstream` is the range of the server that a person wants to sign in to; `timeout` is in milliseconds; `resolve`
   * finds the addresses of a name.
   */
  constructor (upstream: AddressRange, timeout = TIMEOUT, resolve: Resolve = lookUp) {
    this.#timeout = timeout
    this.#resolve = resolve
    this.#allowed = rangesFrom(upstream)
  }

  /** Throws in words for a URL that must not be used. `what` names it. */
  async check (text: string | undefined, what: string): Promise<URL> {
    if (text === undefined || !URL.canParse(text)) throw new SignInFailed(`${what} is no URL`)
    const url = new URL(text)
    checkForm(url, what)
    await this.#addressOf(url, what)
    return url
  }

  /** Rejects with a `SignInFailed` for what is not allowed, and with a `NoAnswer` where nothing came. */
  async fetch (url: URL, what: string, options: FetchOptions = {}): Promise<Response> {
    checkForm(url, what)
    const { address, family } = await this.#addressOf(url, what)
    const signal = AbortSignal.any([
      AbortSignal.timeout(this.#timeout),
      ...(options.signal === undefined ? [] : [options.signal])
    ])
    try {
      return await send(url, what, options, signal, (_name, { all }, done) => {
        if (all === true) done(null, [{ address, family }])
        else done(null, address, family)
      })
    } catch (error) {
      if (error instanceof SignInFailed || options.signal?.aborted === true) throw error
      throw new NoAnswer(`${what} (${url.origin}) does not answer: ${reasonOf(error, signal, this.#timeout)}`)
    }
  }

  async #addressOf ({ hostname }: URL, what: string): Promise<{ address: string, family: number }> {
    const name = hostname.replace(/^\[(.*)\]$/, '$1')
    const found = isIP(name) !== 0 ? [{ address: name, family: isIP(name) }] : await resolve(name, what, this.#resolve)
    // One address that is not allowed is enough: another answer of the same name may be used to get around the check.
    for (const { address } of found) {
      if (!this.#allowed.has(rangeOf(address))) {
        throw new SignInFailed(`${what} is at ${hostname}, in a network that the server itself is not in; it is not used`)
      }
    }
    const [first] = found
    if (first === undefined) throw new NoAnswer(`${what} is at ${hostname}, which has no address`)
    return first
  }
}

/** The range of the host of a URL; the strictest one where its name has several addresses. */
export async function rangeOfHost (url: URL): Promise<AddressRange> {
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) !== 0) return rangeOf(name)
  const ranges = (await resolve(name, 'the server')).map(({ address }) => rangeOf(address))
  return ranges.includes('public') ? 'public' : ranges.includes('private') ? 'private' : 'loopback'
}

function checkForm (url: URL, what: string): void {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw new SignInFailed(`${what} is not an https URL, but begins with ${url.protocol}//; it is not used`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new SignInFailed(`${what} has a user or a password in its URL; it is not used`)
  }
}

const lookUp: Resolve = async name => await lookup(name, { all: true, verbatim: true })

async function resolve (name: string, what: string, find = lookUp): ReturnType<Resolve> {
  // Resolvers of the system may give `localhost` any address.
  if (isLoopback(name)) return [{ address: '127.0.0.1', family: 4 }]
  try {
    return await find(name)
  } catch {
    throw new NoAnswer(`${what} is at ${name}, which cannot be found`)
  }
}

async function send (
  url: URL,
  what: string,
  { method = 'GET', headers = {}, body, headOnly = () => false }: FetchOptions,
  signal: AbortSignal,
  find: LookupFunction
): Promise<Response> {
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method,
    headers: { 'user-agent': 'mcp-patchbay', ...headers, 'accept-encoding': 'identity' },
    agent: false,
    lookup: find,
    signal
  })
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', resolve)
    request.end(body)
  })
  const status = reply.statusCode ?? 0
  const isUnread = headOnly(status)
  if (isUnread) request.destroy()
  const bytes = isUnread ? Buffer.alloc(0) : await readAll(reply, what)
  const known = Object.entries(reply.headersDistinct).map(([name, values = []]) => [name, values.join(', ')] as [string, string])
  return new Response(status === 204 || status === 304 ? null : bytes, { status, headers: known })
}

async function readAll (reply: IncomingMessage, what: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) {
      reply.destroy()
      throw new SignInFailed(`${what} sent more than ${MAX_BYTES} bytes; it is not used`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function reasonOf (error: unknown, signal: AbortSignal, timeout: number): string {
  if (signal.aborted) return `it took more than ${timeout / 1_000} s`
  const code = (error as NodeJS.ErrnoException).code
  return typeof code === 'string' && /^[A-Z_0-9]+$/.test(code) ? code : 'the connection failed'
}
