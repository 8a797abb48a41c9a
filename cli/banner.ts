import type { Options } from '../options.js'

export interface Inventory {
  tools: string[]
  resources: string[]
  prompts: string[]
  /** What is not served or does not work now, and why. */
  unavailable: Array<[name: string, why: string]>
}

export interface BannerContent {
  version: string
  /** The URL of the HTTP server, if there is one. */
  address: string | undefined
  options: Pick<Options, 'prefix' | 'stdio' | 'data' | 'ephemeral' | 'host' | 'allowedHosts' | 'apiKeys' | 'oauth'>
  /** Whether standard error is a terminal. */
  terminal: boolean
  /** The command that started this process. */
  launch: string[]
  inventory: Inventory
}

const WIDTH = 100
const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]'])

/** The text for standard error when the gateway is up: addresses, who may call, what is served and what not, and the configuration for a client. */
export function banner (content: BannerContent): string {
  const { version, address, options, launch, inventory, terminal } = content
  const { prefix, stdio } = options
  // A desktop client launched the process: it is configured already, and its log gets one line.
  if (stdio && !terminal) return `patchbay ${version}  ${['stdio', ...(address === undefined ? [] : [`MCP ${address}${prefix}/mcp`]), `data ${dataOf(options)}`].join('; ')}\n`
  return [
    `patchbay ${version}`,
    '',
    ...(stdio ? [line('stdio', 'standard input and output of this process')] : []),
    ...(address === undefined ? [] : [...endpoints(address + prefix), ...access(options)]),
    line('data', dataOf(options)),
    '',
    ...wrap('tools', inventory.tools),
    ...wrap('resources', inventory.resources),
    ...wrap('prompts', inventory.prompts),
    ...inventory.unavailable.map(([name, why]) => line(inventory.tools.includes(name) ? 'not now' : 'not here', `${name}: ${why}`)),
    '',
    ...snippet(address, options, launch),
    ...(terminal ? ['', 'Ctrl-C stops it.'] : []),
    ''
  ].join('\n')
}

const dataOf = ({ ephemeral, data }: BannerContent['options']): string => ephemeral || data === undefined ? 'in memory, until this process ends' : data

/** Who may call. */
function access ({ apiKeys, oauth }: BannerContent['options']): string[] {
  const lines = [
    ...wrap('keys', [...new Set(apiKeys.map(({ name }) => name))]),
    ...(oauth === undefined ? [] : [line('OAuth', `access tokens of ${oauth.issuer}`)])
  ]
  return lines.length === 0 ? [line('access', 'callers need no credential')] : lines
}

function endpoints (base: string): string[] {
  return [
    line('MCP', `${base}/mcp          Streamable HTTP, every revision`),
    line('WebSocket', `${base.replace(/^http/, 'ws')}/mcp`),
    line('JSON-RPC', `${base}/message      plain POST, no handshake`),
    line('HTTP+SSE', `${base}/sse          for clients of the first revision`),
    line('health', `${base}/health`)
  ]
}

const line = (what: string, text: string): string => `  ${what.padEnd(10)} ${text}`

function wrap (what: string, names: string[]): string[] {
  const lines: string[] = []
  for (const [index, name] of names.entries()) {
    const word = index === names.length - 1 ? name : `${name},`
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((text, index) => line(index === 0 ? what : '', text))
}

function snippet (address: string | undefined, options: BannerContent['options'], [command, ...args]: string[]): string[] {
  const headers = options.apiKeys.length === 0 ? {} : { headers: { Authorization: 'Bearer <your key>' } }
  const entry = address === undefined ? { command, args } : { url: `${clientUrl(address, options)}${options.prefix}/mcp`, ...headers }
  return ['For the configuration of an MCP client:', JSON.stringify({ mcpServers: { patchbay: entry } }, null, 2)]
}

/** The URL for clients: with an allowed name if the gateway listens on every address of the machine. */
function clientUrl (address: string, { host, allowedHosts: [name] }: BannerContent['options']): string {
  if (name === undefined || !EVERY_ADDRESS.has(host)) return address
  const { protocol, port } = new URL(address)
  return `${protocol}//${name}${/:\d+$/.test(name) || port === '' ? '' : `:${port}`}`
}
