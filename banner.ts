export interface Served {
  version: string
  /** Where HTTP is served, if it is. */
  address: string | undefined
  prefix: string
  stdio: boolean
  /** The command that started this process. */
  launch: string[]
}

/** What a person sees on standard error when the gateway is up: where it is served, and what to paste into a client. */
export function banner ({ version, address, prefix, stdio, launch }: Served): string {
  return [
    `patchbay ${version}`,
    '',
    ...(stdio ? ['  stdio      standard input and output of this process'] : []),
    ...(address === undefined ? [] : served(address + prefix)),
    '',
    ...snippet(address, prefix, launch),
    ''
  ].join('\n')
}

function served (base: string): string[] {
  return [
    `  MCP        ${base}/mcp          Streamable HTTP, every revision`,
    `  WebSocket  ${base.replace(/^http/, 'ws')}/mcp`,
    `  JSON-RPC   ${base}/message      plain POST, no handshake`,
    `  HTTP+SSE   ${base}/sse          for clients of the first revision`,
    `  health     ${base}/health`
  ]
}

function snippet (address: string | undefined, prefix: string, [command, ...args]: string[]): string[] {
  const entry = address === undefined ? { command, args } : { url: `${address}${prefix}/mcp` }
  return ['For the configuration of an MCP client:', JSON.stringify({ mcpServers: { patchbay: entry } }, null, 2)]
}
