import type { Server } from '../../options/upstreams.js'
import { isConfidential } from '../../lib/network.js'
import type { Address, ApiCredentials } from '../server-entry.js'
import { splitUrl } from './server-address.js'

type UrlAddress = Exclude<Address, { kind: 'stdio' | 'openapi' }>
type ApiAddress = Extract<Address, { kind: 'openapi' }>

/** The texts of the fields of one server, with their variables expanded, and where mistakes in them go. */
export interface FieldTexts {
  text: (field: string, given: string) => string
  /** The absolute path that a text stands for. */
  path: (field: string, given: string) => string
  /** Notes a file that the server refers to: a change of it is a change of the configuration. */
  follow: (file: string) => void
  mistake: (field: string, sentence: string) => void
  countMistakes: () => number
}

/** The names of headers, and what their values may not have. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/

const BAD_NAME = 'has a name with characters that HTTP does not allow; names have letters, digits and dashes'
const BAD_VALUE = 'has characters that HTTP does not allow; look for line breaks and letters outside of ISO 8859-1'
const BAD_DOCUMENT = 'must be a path, or a URL that begins with https: or http:'
const UNENCRYPTED = 'must begin with https:, because a secret is sent there; http: is for this machine only'

/** The address of an MCP server that has a URL; undefined where that is wrong. */
export function remoteAddress (
  kind: UrlAddress['kind'],
  { url: given = '', headers = {} }: Server,
  texts: FieldTexts
): UrlAddress | undefined {
  const before = texts.countMistakes()
  const named = readHeaders(headers, texts)
  const split = splitUrl(texts.text('url', given), kind)
  // The URL of a variable without a value would only be wrong once more.
  if (typeof split === 'string') {
    if (texts.countMistakes() === before) texts.mistake('url', split)
    return undefined
  }
  return { kind: split.kind, url: split.url, headers: withAuthorization(named, split.authorization) }
}

/** The address of an API that has an OpenAPI document; undefined where something in it is wrong. */
export function apiAddress (
  { openapi = '', url, headers = {}, credentials, operations = {} }: Server,
  texts: FieldTexts
): ApiAddress | undefined {
  const before = texts.countMistakes()
  const named = readHeaders(headers, texts)
  const document = readDocument(openapi, texts)
  const site = url === undefined ? undefined : splitUrl(texts.text('url', url), 'http')
  if (typeof site === 'string' || site?.kind === 'websocket') {
    if (texts.countMistakes() === before) texts.mistake('url', 'must be the http: or https: URL of the API')
    return undefined
  }
  const tokens = credentials && readCredentials(credentials, texts)
  if (texts.countMistakes() > before) return undefined
  return {
    kind: 'openapi',
    document,
    url: site?.url ?? '',
    headers: withAuthorization(named, site?.authorization),
    ...(tokens !== undefined && { credentials: tokens }),
    operations
  }
}

function readDocument (given: string, texts: FieldTexts): string {
  const text = texts.text('openapi', given)
  if (/^https?:/i.test(text)) {
    if (!URL.canParse(text)) texts.mistake('openapi', 'must be a path or a URL')
    return URL.canParse(text) ? new URL(text).href : text
  }
  if (/^[a-z][a-z+.-]+:\/\//i.test(text)) texts.mistake('openapi', BAD_DOCUMENT)
  const file = texts.path('openapi', given)
  texts.follow(file)
  return file
}

function readCredentials (
  { tokenUrl, clientId, clientSecret, scopes }: ApiCredentials,
  texts: FieldTexts
): ApiCredentials {
  const url = texts.text('credentials.tokenUrl', tokenUrl)
  if (!URL.canParse(url)) texts.mistake('credentials.tokenUrl', 'must be a URL')
  else if (!isConfidential(new URL(url)) || !/^https?:/i.test(url)) texts.mistake('credentials.tokenUrl', UNENCRYPTED)
  return {
    tokenUrl: url,
    clientId: texts.text('credentials.clientId', clientId),
    clientSecret: texts.text('credentials.clientSecret', clientSecret),
    ...(scopes !== undefined && { scopes })
  }
}

function readHeaders (headers: NonNullable<Server['headers']>, texts: FieldTexts): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, given]) => {
    const value = texts.text(`headers.${name}`, String(given))
    if (!TOKEN.test(name)) texts.mistake('headers', BAD_NAME)
    else if (FORBIDDEN.test(value)) texts.mistake(`headers.${name}`, BAD_VALUE)
    return [name, value]
  }))
}

/** The user and password of a URL become a header, unless there is one already. */
function withAuthorization (
  headers: Record<string, string>,
  authorization: string | undefined
): Record<string, string> {
  const isAuthorized = Object.keys(headers).some(name => name.toLowerCase() === 'authorization')
  return authorization === undefined || isAuthorized ? headers : { ...headers, Authorization: authorization }
}
