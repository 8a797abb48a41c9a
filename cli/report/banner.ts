import { isQuiet } from '../../loader/demonstration.js'
import type { Options } from '../../options.js'
import { servesConsole, servesMetrics } from '../../options/exposure.js'
import { placeOf } from '../../system/redis/url.js'
import { docsPage } from '../places.js'
import { httpEntry, isBehindProxy } from './client-address.js'
import { mcpServers, type StdioEntry } from './client-snippets.js'
import type { Inventory } from './inventory.js'
import { sentence, wrap, wrapWords } from './wrap.js'

export interface BannerContent {
  version: string
  /** The URL of the HTTP server, if there is one. */
  address: string | undefined
  options: Pick<
    Options,
    | 'prefix'
    | 'stdio'
    | 'http'
    | 'console'
    | 'metrics'
    | 'rest'
    | 'data'
    | 'ephemeral'
    | 'redis'
    | 'host'
    | 'allowedHosts'
    | 'apiKeys'
    | 'oauth'
    | 'tools'
    | 'mcpServers'
    | 'mcpConfig'
  >
  /** The config file, if one was read. */
  config?: string | undefined
  /** True where standard error is a terminal. */
  terminal: boolean
  /** How a client launches a gateway like this one. */
  launch: () => StdioEntry
  /** How the user types the command. */
  command: string
  inventory: Inventory
}

/**
 * The text for standard error when the gateway is up: addresses, who may call, what is served and what not, and the
 * configuration for a client.
 */
export function banner (content: BannerContent): string {
  const { version, address, options, terminal } = content
  // A desktop client launched the process: it is configured already, and its log gets one line.
  if (options.stdio && !terminal) return `patchbay ${version}  ${summaryOf(content)}\n`
  return [
    `patchbay ${version}`,
    '',
    ...servedLines(content),
    '',
    ...snippet(content),
    '',
    ...sentence(
      `For ${address === undefined ? 'Claude Desktop, Cursor' : 'Cursor'} and others; other clients:`,
      `${content.command} clients`
    ),
    ...sentence('How to see that it works:', docsPage('clients.md')),
    ...(terminal ? ['Ctrl-C stops it.'] : []),
    ''
  ].join('\n')
}

type Served = Omit<BannerContent, 'launch' | 'terminal' | 'command'>

/** The facts of the banner as fields of a log line, and its message, for logs that are JSON. */
export function startLine (served: Served): { fields: object, message: string } {
  const { version, address, options, config, inventory: { unavailable, ...inventory } } = served
  const { apiKeys, oauth } = options
  const urls =
    address === undefined
      ? {}
      : Object.fromEntries(endpointsOf(address + options.prefix, options).map(({ label, url }) => [label, url]))
  const callers =
    address === undefined
      ? {}
      : {
          keys: keysOf(apiKeys),
          ...(oauth === undefined ? {} : { oauth: oauth.issuer }),
          anonymous: apiKeys.length === 0 && oauth === undefined
        }
  const fields = {
    version,
    stdio: options.stdio,
    urls,
    ...callers,
    ...(config === undefined ? {} : { config }),
    data: dataOf(options),
    ...inventory,
    ...(isQuiet(options) ? { builtIn: QUIET } : {}),
    unavailable: Object.fromEntries(unavailable)
  }
  return { fields, message: `patchbay ${version} is up: ${summaryOf(served)}` }
}

function summaryOf ({ address, options, inventory: { toolCount, isComplete } }: Served): string {
  const tools = `${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}${isComplete ? '' : ' so far'}`
  return [
    ...(options.stdio ? ['stdio'] : []),
    ...(address === undefined ? [] : [`MCP ${address}${options.prefix}/mcp`]),
    tools,
    `data ${dataOf(options)}`
  ].join('; ')
}

/** Where the built-in tools are, in a gateway that stands in front of others. */
export const QUIET =
  'not served beside upstream servers; to serve them, too, set option tools to true (PATCHBAY_TOOLS=true)'

/** The lines that say where and what is served, and who may call. */
export function servedLines ({ address, options, config, inventory }: Served): string[] {
  return [
    ...(options.stdio ? wrapWords('stdio', 'standard input and output of this process') : []),
    ...(address === undefined
      ? []
      : [
          ...endpointsOf(address + options.prefix, options).flatMap(({ label, url, remark }) =>
            wrapWords(label, url, remark)
          ),
          ...access(options)
        ]),
    ...(config === undefined ? [] : wrapWords('config', config)),
    ...wrapWords('data', dataOf(options)),
    '',
    ...wrap('upstreams', inventory.upstreams),
    ...wrap('views', inventory.views.map(name => (address === undefined ? name : `${options.prefix}/mcp/${name}`))),
    ...wrap('tools', inventory.tools),
    ...wrap('resources', inventory.resources),
    ...wrap('prompts', inventory.prompts),
    ...(isQuiet(options) ? wrapWords('built-in', QUIET) : []),
    ...missing(inventory)
  ]
}

function dataOf ({ redis, ephemeral, data }: BannerContent['options']): string {
  if (redis !== undefined) return `Redis at ${placeOf(redis)}, shared with the other nodes`
  return ephemeral || data === undefined ? 'in memory, until this process ends' : data
}

/** Who may call. */
function access ({ apiKeys, oauth }: BannerContent['options']): string[] {
  const lines = [
    ...wrap('keys', keysOf(apiKeys)),
    ...(oauth === undefined ? [] : wrapWords('OAuth', `access tokens of ${oauth.issuer}`))
  ]
  return lines.length === 0 ? wrapWords('access', 'callers need no credential') : lines
}

const keysOf = (apiKeys: BannerContent['options']['apiKeys']): string[] => [...new Set(apiKeys.map(({ name }) => name))]

interface Endpoint { readonly label: string, readonly url: string, readonly remark?: string }

function endpointsOf (base: string, options: BannerContent['options']): Endpoint[] {
  return [
    ...(servesConsole(options)
      ? [{ label: 'console', url: `${base}/console`, remark: 'for people, in a browser' }]
      : []),
    { label: 'MCP', url: `${base}/mcp`, remark: 'Streamable HTTP, every revision' },
    { label: 'WebSocket', url: `${base.replace(/^http/, 'ws')}/mcp` },
    { label: 'JSON-RPC', url: `${base}/message`, remark: 'plain POST, no handshake' },
    { label: 'HTTP+SSE', url: `${base}/sse`, remark: 'for clients of the first revision' },
    ...(options.rest ? [{ label: 'plain HTTP', url: `${base}/api/openapi.json`, remark: 'tools as REST' }] : []),
    { label: 'health', url: `${base}/health` },
    ...(servesMetrics(options) ? [{ label: 'metrics', url: `${base}/metrics`, remark: 'for Prometheus' }] : [])
  ]
}

/** Lines about things that are not served or fail now, one entry for each reason. */
function missing ({ tools, unavailable }: Inventory): string[] {
  const reasons = new Map<string, string[]>()
  for (const [name, why] of unavailable) {
    const key = `${tools.includes(name) ? 'failing' : 'not served'}\n${why}`
    reasons.set(key, [...reasons.get(key) ?? [], name])
  }
  return [...reasons].flatMap(([key, names]) => {
    const [label = '', why = ''] = key.split('\n')
    return wrapWords(label, `${names.join(', ')}: ${why}`)
  })
}

function snippet ({ address, options, launch }: BannerContent): string[] {
  const where =
    address === undefined
      ? 'so that it launches this gateway'
      : isBehindProxy(options)
        ? 'if your proxy serves this URL'
        : 'so that it connects to this gateway'
  return [
    `For the configuration of an MCP client, ${where}:`,
    mcpServers(address === undefined ? launch() : httpEntry(address, options))
  ]
}
