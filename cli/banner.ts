import type { Options } from '../options.js'

export interface Inventory {
  tools: string[]
  resources: string[]
  prompts: string[]
  /** What is not served, or cannot work now, and why. */
  unavailable: Array<[name: string, why: string]>
}

export interface Served {
  version: string
  /** Where HTTP is served, if it is. */
  address: string | undefined
  options: Pick<Options, 'prefix' | 'stdio' | 'data' | 'ephemeral' | 'host' | 'allowedHosts' | 'apiKeys' | 'oauth'>
  /** True when a person sees standard error as it comes. */
  terminal: boolean
  /** The command that started this process. */
  launch: string[]
  inventory: Inventory
}

const WIDTH = 100
const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]'])

/** What standard error says when the gateway is up: where it is served and to whom, what is served and what not, and what to paste into a client. */
export function banner (about: Served): string {
  const { version, address, options, launch, inventory, terminal } = about
  const { prefix, stdio } = options
  // The application that launched the process shows this to people who have configured it already.
  if (stdio && !terminal) return `patchbay ${version}  ${['stdio', ...(address === undefined ? [] : [`MCP ${address}${prefix}/mcp`]), `data ${dataOf(options)}`].join('; ')}\n`
  return [
    `patchbay ${version}`,
    '',
    ...(stdio ? [line('stdio', 'standard input and output of this process')] : []),
    ...(address === undefined ? [] : [...served(address + prefix), ...access(options)]),
    line('data', dataOf(options)),
    '',
    ...wrapped('tools', inventory.tools),
    ...wrapped('resources', inventory.resources),
    ...wrapped('prompts', inventory.prompts),
    ...inventory.unavailable.map(([name, why]) => line(inventory.tools.includes(name) ? 'not now' : 'not here', `${name}: ${why}`)),
    '',
    ...snippet(address, options, launch),
    ...(terminal ? ['', 'Ctrl-C stops it.'] : []),
    ''
  ].join('\n')
}

const dataOf = ({ ephemeral, data }: Served['options']): string => ephemeral || data === undefined ? 'in memory, until this process ends' : data

/** Who may call. */
function access ({ apiKeys, oauth }: Served['options']): string[] {
  const lines = [
    ...wrapped('keys', [...new Set(apiKeys.map(({ name }) => name))]),
    ...(oauth === undefined ? [] : [line('OAuth', `access tokens of ${oauth.issuer}`)])
  ]
  return lines.length === 0 ? [line('access', 'callers need no credential')] : lines
}

function served (base: string): string[] {
  return [
    line('MCP', `${base}/mcp          Streamable HTTP, every revision`),
    line('WebSocket', `${base.replace(/^http/, 'ws')}/mcp`),
    line('JSON-RPC', `${base}/message      plain POST, no handshake`),
    line('HTTP+SSE', `${base}/sse          for clients of the first revision`),
    line('health', `${base}/health`)
  ]
}

const line = (what: string, text: string): string => `  ${what.padEnd(10)} ${text}`

function wrapped (what: string, names: string[]): string[] {
  const lines: string[] = []
  for (const [index, name] of names.entries()) {
    const word = index === names.length - 1 ? name : `${name},`
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((text, index) => line(index === 0 ? what : '', text))
}

function snippet (address: string | undefined, options: Served['options'], [command, ...args]: string[]): string[] {
  const headers = options.apiKeys.length === 0 ? {} : { headers: { Authorization: 'Bearer <your key>' } }
  const entry = address === undefined ? { command, args } : { url: `${reachable(address, options)}${options.prefix}/mcp`, ...headers }
  return ['For the configuration of an MCP client:', JSON.stringify({ mcpServers: { patchbay: entry } }, null, 2)]
}

/** Where clients find the gateway: by a name that is allowed, when it listens on every address of the machine. */
function reachable (address: string, { host, allowedHosts: [name] }: Served['options']): string {
  if (name === undefined || !EVERY_ADDRESS.has(host)) return address
  const { protocol, port } = new URL(address)
  return `${protocol}//${name}${/:\d+$/.test(name) || port === '' ? '' : `:${port}`}`
}
