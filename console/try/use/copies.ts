import { REVISIONS, isObject, type Era, type Json, type JsonObject } from '../../client/contract.js'

const META = 'io.modelcontextprotocol/'

/** The request as one JSON-RPC message, complete for its era. */
export function asJsonRpc (era: Era, method: string, params: JsonObject): string {
  return JSON.stringify(
    { jsonrpc: '2.0', id: 1, method, params: era === 'modern' ? { ...params, _meta: metaOf() } : params },
    null,
    2
  )
}

interface CurlOptions {
  era: Era
  /** Of `/mcp`. */
  url: string
  /** The view that the call is made in. */
  view?: string | undefined
  needsKey: boolean
  /** Of a tool: says which arguments are repeated in headers. */
  inputSchema?: Json | undefined
}

/** A command for a POSIX shell that makes the same call. A key is never in it: the shell takes it from a variable. */
export function asCurl (
  method: string,
  params: JsonObject,
  { era, url, view, needsKey, inputSchema }: CurlOptions
): string {
  const target = withView(era === 'modern' ? url : url.replace(/\/mcp$/, '/message'), view)
  const headers = [
    'Content-Type: application/json',
    `MCP-Protocol-Version: ${REVISIONS[era]}`,
    ...(era === 'modern' ? modernHeaders(method, params, inputSchema) : [])
  ]
  const lines = [
    `curl -sS ${quote(target)}`,
    ...(needsKey ? ['-H "Authorization: Bearer $PATCHBAY_KEY"'] : []),
    ...headers.map(header => `-H ${quote(header)}`),
    `--data-raw ${quote(JSON.stringify(JSON.parse(asJsonRpc(era, method, params))))}`
  ]
  return lines.join(' \\\n  ')
}

/** The configuration that most clients have for a server over HTTP. */
export function asClientConfig (url: string, needsKey: boolean, view?: string): string {
  // eslint-disable-next-line no-template-curly-in-string
  const headers = needsKey ? { headers: { Authorization: 'Bearer ${PATCHBAY_KEY}' } } : {}
  return JSON.stringify({ mcpServers: { patchbay: { type: 'http', url: withView(url, view), ...headers } } }, null, 2)
}

const withView = (url: string, view: string | undefined): string =>
  view === undefined ? url : `${url}/${encodeURIComponent(view)}`

function modernHeaders (method: string, params: JsonObject, inputSchema: Json | undefined): string[] {
  const name = params.name ?? params.uri
  return [
    'Accept: application/json, text/event-stream',
    `Mcp-Method: ${method}`,
    ...(typeof name === 'string' ? [`Mcp-Name: ${headerValue(name)}`] : []),
    ...mirrored(inputSchema, params.arguments)
  ]
}

/** Headers of arguments that a schema marks with `x-mcp-header`. */
function mirrored (schema: Json | undefined, value: Json | undefined): string[] {
  if (!isObject(schema)) return []
  const header = schema['x-mcp-header']
  const own =
    typeof header === 'string' && ['string', 'number', 'boolean'].includes(typeof value)
      ? [`Mcp-Param-${header}: ${headerValue(String(value))}`]
      : []
  const members =
    isObject(schema.properties) && isObject(value)
      ? Object.entries(schema.properties).flatMap(([name, inner]) => mirrored(inner, value[name]))
      : []
  return [...own, ...members]
}

const metaOf = (): JsonObject => ({
  [`${META}protocolVersion`]: REVISIONS.modern,
  [`${META}clientInfo`]: { name: 'curl', version: '1' },
  [`${META}clientCapabilities`]: {}
})

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Header values are ASCII: others are written as the specification says, in base64. */
function headerValue (text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')) return text
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`
}
