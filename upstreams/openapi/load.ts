import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { onAbort } from '../../lib/abort.js'
import type { EntryLookups } from '../../lib/address-check.js'
import { openClient } from '../../transports/client/http/dial-http.js'
import type { HttpClientOptions } from '../../transports/client/http/http-client.js'
import type { ApiAddress } from './api.js'
import { parseDocument, type ApiDocument } from './document/parse.js'
import { ApiExchange, type ExchangeLimits } from './exchange.js'

/** The bytes of a document, and a hash of them. */
export interface Loaded { readonly bytes: Buffer, readonly hash: string, readonly name: string }

export interface LoadOptions extends HttpClientOptions, Pick<ExchangeLimits, 'replies'> {
  /** The largest document, in bytes. */
  readonly maxDocument: number
  readonly lookups: EntryLookups
}

/** Reads the document of an API from its file or URL. Rejects in words. */
export async function loadDocument (address: ApiAddress, options: LoadOptions, signal: AbortSignal): Promise<Loaded> {
  const bytes = isUrl(address.document)
    ? await fetchDocument(address, options, signal)
    : await readDocument(address.document, options.maxDocument)
  const name = isUrl(address.document) ? new URL(address.document).pathname : basename(address.document)
  return { bytes, hash: createHash('sha256').update(bytes).digest('base64url'), name }
}

/** Reads what was loaded. Rejects in words that name the document. */
export async function parseLoaded ({ bytes, name }: Loaded): Promise<ApiDocument> {
  return await parseDocument(bytes, name).catch((error: unknown) => {
    throw new Error(`its document (${name}) cannot be used: ${(error as Error).message}`)
  })
}

/** True for a document that has to be fetched. */
export const isUrl = (document: string): boolean => /^https?:\/\//i.test(document)

async function readDocument (file: string, max: number): Promise<Buffer> {
  try {
    const stats = await stat(file)
    if (!stats.isFile()) throw new Error('it is not a file')
    if (stats.size > max) throw new Error(tooLarge(max))
    return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'this user may not read it' : message
    throw new Error(`its document (${basename(file)}) cannot be read: ${why}`)
  }
}

const tooLarge = (max: number): string => `it has more than ${max} bytes (limit maxApiDocument)`

async function fetchDocument (address: ApiAddress, options: LoadOptions, signal: AbortSignal): Promise<Buffer> {
  const url = new URL(address.document)
  // Credentials of the API are for its origin alone.
  const headers = address.url !== '' && new URL(address.url).origin === url.origin ? address.headers : {}
  const { client, path, headers: configured } = await openClient(
    { url: url.href, headers }, { ...options, lookup: options.lookups.of(url, true) }
  )
  const headersOfRequest = ['accept', 'application/json, */*;q=0.9', 'accept-encoding', 'identity', ...configured]
  const request = { method: 'GET', path, headers: headersOfRequest, isDecompressed: true } as const
  const limits = { maxBody: options.maxDocument, limit: 'maxApiDocument', replies: options.replies }
  const exchange = new ApiExchange(client, request, limits, undefined)
  const off = onAbort(signal, () => exchange.abort(new Error('it took too long')))
  try {
    const { status, body } = await exchange.reply
    if (status !== 200) throw new Error(`its server answered with status ${status}`)
    return body
  } catch (error) {
    throw new Error(`its document at ${url.origin}${url.pathname} cannot be fetched: ${(error as Error).message}`)
  } finally {
    off()
    void client.close()
  }
}
