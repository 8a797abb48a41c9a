import { didYouMean } from '../../lib/nearest-name.js'
import { basicCredential } from '../../lib/network.js'
import type { Address } from '../server-entry.js'

type Kind = Address['kind']

/** The words of clients for a kind, without case, dashes and underscores. */
const KINDS: Record<string, Kind> = {
  __proto__: null as never,
  stdio: 'stdio',
  local: 'stdio',
  http: 'http',
  streamablehttp: 'http',
  remote: 'any',
  sse: 'sse',
  ws: 'websocket',
  websocket: 'websocket'
}

/**
 * How a server is reached, by its `type`, or by which of `command` and `url` it has. `lenient`: its client tries
 * HTTP+SSE where it says `http`.
 */
export function kindOf ({
  command,
  url,
  openapi,
  type,
  lenient
}: {
  command: string | undefined
  url: string | undefined
  openapi?: string | undefined
  type: string | undefined
  lenient: boolean
}): { kind: Kind } | { field: string, mistake: string } {
  if (openapi !== undefined) {
    return command === undefined
      ? { kind: 'openapi' }
      : { field: '', mistake: 'has both a command and an OpenAPI document; remove one' }
  }
  const said = type === undefined ? undefined : KINDS[type.toLowerCase().replace(/[-_ ]/g, '')]
  if (type !== undefined && said === undefined) {
    return {
      field: 'type',
      mistake: `must be stdio, http, sse or websocket${didYouMean(type, ['stdio', 'http', 'streamable-http', 'sse', 'websocket'])}`
    }
  }
  const kind = said ?? (command === undefined ? 'any' : 'stdio')
  if (command === undefined && url === undefined) return { field: '', mistake: 'needs a command or a url' }
  if (said === undefined && command !== undefined && url !== undefined) {
    return { field: '', mistake: 'has both a command and a url; remove one, or say which is meant with type' }
  }
  if (kind === 'stdio' && command === undefined) {
    return { field: '', mistake: 'has the type stdio, which needs a command' }
  }
  if (kind !== 'stdio' && url === undefined) {
    return { field: '', mistake: `has the type ${type ?? kind}, which needs a url` }
  }
  return { kind: kind === 'http' && lenient ? 'any' : kind }
}

type RemoteKind = Exclude<Kind, 'stdio' | 'openapi'>

/** A URL without user and password, which become a header; or a sentence that says what is wrong with it. */
export function splitUrl (
  text: string,
  kind: RemoteKind
): { url: string, kind: RemoteKind, authorization: string | undefined } | string {
  if (!URL.canParse(text)) return 'must be a URL, for example https://example.com/mcp'
  const url = new URL(text)
  const socket = /^wss?:$/.test(url.protocol)
  if (!socket && !/^https?:$/.test(url.protocol)) {
    return `must begin with http:, https:, ws: or wss:, not ${url.protocol}`
  }
  if (socket && (kind === 'http' || kind === 'sse')) {
    return `begins with ${url.protocol}, which does not go with the type ${kind}`
  }
  const authorization = basicCredential(url)
  url.username = ''
  url.password = ''
  url.hash = ''
  if (kind === 'websocket' && !socket) url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return { url: url.href, kind: socket ? 'websocket' : kind, authorization }
}
