import type { Options } from './options.js'

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
  options: Pick<Options, 'prefix' | 'stdio' | 'data' | 'ephemeral'>
  /** The command that started this process. */
  launch: string[]
  inventory: Inventory
}

const WIDTH = 100

/** What a person sees on standard error when the gateway is up: where it is served, what is served and what not, and what to paste into a client. */
export function banner ({ version, address, options: { prefix, stdio, data, ephemeral }, launch, inventory }: Served): string {
  return [
    `patchbay ${version}`,
    '',
    ...(stdio ? [line('stdio', 'standard input and output of this process')] : []),
    ...(address === undefined ? [] : served(address + prefix)),
    line('data', ephemeral || data === undefined ? 'in memory, until this process ends' : data),
    '',
    ...wrapped('tools', inventory.tools),
    ...wrapped('resources', inventory.resources),
    ...wrapped('prompts', inventory.prompts),
    ...inventory.unavailable.map(([name, why]) => line(inventory.tools.includes(name) ? 'not now' : 'not here', `${name}: ${why}`)),
    '',
    ...snippet(address, prefix, launch),
    ''
  ].join('\n')
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

function snippet (address: string | undefined, prefix: string, [command, ...args]: string[]): string[] {
  const entry = address === undefined ? { command, args } : { url: `${address}${prefix}/mcp` }
  return ['For the configuration of an MCP client:', JSON.stringify({ mcpServers: { patchbay: entry } }, null, 2)]
}
