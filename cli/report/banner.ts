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
  options: Pick<Options, 'prefix' | 'stdio' | 'http' | 'console' | 'metrics' | 'data' | 'ephemeral' | 'redis' | 'host' | 'allowedHosts' | 'apiKeys' | 'oauth' | 'tools' | 'mcpServers' | 'mcpConfig'>
  /** Whether standard error is a terminal. */
  terminal: boolean
  /** How a client launches a gateway like this one. */
  launch: () => StdioEntry
  /** How the user types the command. */
  command: string
  inventory: Inventory
}

/** The text for standard error when the gateway is up: addresses, who may call, what is served and what not, and the configuration for a client. */
export function banner (content: BannerContent): string {
  const { version, address, options, terminal } = content
  const { prefix, stdio } = options
  // A desktop client launched the process: it is configured already, and its log gets one line.
  if (stdio && !terminal) return `patchbay ${version}  ${['stdio', ...(address === undefined ? [] : [`MCP ${address}${prefix}/mcp`]), `data ${dataOf(options)}`].join('; ')}\n`
  return [
    `patchbay ${version}`,
    '',
    ...servedLines(content),
    '',
    ...snippet(content),
    '',
    ...sentence(`For ${address === undefined ? 'Claude Desktop, Cursor' : 'Cursor'} and others; other clients:`, `${content.command} clients`),
    ...sentence('How to see that it works:', docsPage('clients.md')),
    ...(terminal ? ['Ctrl-C stops it.'] : []),
    ''
  ].join('\n')
}

/** Where the built-in tools are, in a gateway that stands in front of others. */
export const QUIET = 'not served beside upstream servers; to serve them, too, set option tools to true (PATCHBAY_TOOLS=true)'

/** The lines that say where and what is served, and who may call. */
export function servedLines ({ address, options, inventory }: Omit<BannerContent, 'launch' | 'terminal' | 'command'>): string[] {
  return [
    ...(options.stdio ? wrapWords('stdio', 'standard input and output of this process') : []),
    ...(address === undefined ? [] : [...endpoints(address + options.prefix, options), ...access(options)]),
    ...wrapWords('data', dataOf(options)),
    '',
    ...wrap('upstreams', inventory.upstreams),
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
    ...wrap('keys', [...new Set(apiKeys.map(({ name }) => name))]),
    ...(oauth === undefined ? [] : wrapWords('OAuth', `access tokens of ${oauth.issuer}`))
  ]
  return lines.length === 0 ? wrapWords('access', 'callers need no credential') : lines
}

function endpoints (base: string, options: BannerContent['options']): string[] {
  return [
    ...(servesConsole(options) ? wrapWords('console', `${base}/console`, 'for people, in a browser') : []),
    ...wrapWords('MCP', `${base}/mcp`, 'Streamable HTTP, every revision'),
    ...wrapWords('WebSocket', `${base.replace(/^http/, 'ws')}/mcp`),
    ...wrapWords('JSON-RPC', `${base}/message`, 'plain POST, no handshake'),
    ...wrapWords('HTTP+SSE', `${base}/sse`, 'for clients of the first revision'),
    ...wrapWords('health', `${base}/health`),
    ...(servesMetrics(options) ? wrapWords('metrics', `${base}/metrics`, 'for Prometheus') : [])
  ]
}

/** What is not served and what fails now, one entry for each reason. */
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
  const where = address === undefined ? 'so that it launches this gateway' : isBehindProxy(options) ? 'if your proxy serves this URL' : 'so that it connects to this gateway'
  return [`For the configuration of an MCP client, ${where}:`, mcpServers(address === undefined ? launch() : httpEntry(address, options))]
}
