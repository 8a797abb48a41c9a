import type { HttpEntry } from './client-address.js'

/** How a client launches a gateway of its own. */
export interface StdioEntry { command: string, args: string[], env?: Record<string, string> }

export interface Client {
  title: string
  /** Where the snippet goes. */
  place: string
  /** Makes the text to paste or run so that the client launches the gateway. */
  stdio: (entry: StdioEntry) => string
  /** Makes the text to paste or run so that the client connects to a running gateway. */
  http: (entry: HttpEntry) => string
}

/** The form that most clients read. */
export const mcpServers = (entry: object): string => json({ mcpServers: { patchbay: entry } })

/** The clients that docs/clients.md describes, by the names that `patchbay clients` takes. */
export const CLIENTS: Record<string, Client> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    place: 'claude_desktop_config.json (Settings > Developer > Edit Config)',
    stdio: mcpServers,
    http: entry => mcpServers(bridge(entry))
  },
  'claude-code': {
    title: 'Claude Code',
    place: 'run this in a terminal',
    // The flag takes every word after it, so the name has to come before.
    stdio: ({ command, args, env }) =>
      `claude mcp add --scope user patchbay ${variableFlags(env)}-- ${shell([command, ...args])}`,
    http: entry => `claude mcp add --scope user --transport http patchbay ${entry.url}${headerFlags(entry)}`
  },
  cursor: {
    title: 'Cursor',
    place: '~/.cursor/mcp.json, or .cursor/mcp.json of a project',
    stdio: mcpServers,
    http: mcpServers
  },
  vscode: {
    title: 'VS Code',
    place: '.vscode/mcp.json of a workspace, or the command "MCP: Open User Configuration"',
    stdio: entry => json({ servers: { patchbay: { type: 'stdio', ...entry } } }),
    http: entry => json({ servers: { patchbay: { type: 'http', ...entry } } })
  },
  windsurf: {
    title: 'Windsurf',
    place: '~/.codeium/windsurf/mcp_config.json',
    stdio: mcpServers,
    http: ({ url, ...rest }) => mcpServers({ serverUrl: url, ...rest })
  },
  codex: {
    title: 'Codex',
    place: '~/.codex/config.toml',
    stdio: ({ command, args, env }) =>
      toml([
        `command = ${JSON.stringify(command)}`,
        `args = [${args.map(arg => JSON.stringify(arg)).join(', ')}]`,
        ...(env === undefined ? [] : [`env = ${inlineTable(env)}`])
      ]),
    http: ({ url, headers }) =>
      toml([
        `url = ${JSON.stringify(url)}`,
        ...(headers === undefined ? [] : [`http_headers = ${inlineTable(headers)}`])
      ])
  },
  gemini: {
    title: 'Gemini CLI',
    place: '~/.gemini/settings.json, or .gemini/settings.json of a project',
    stdio: mcpServers,
    http: ({ url, ...rest }) => mcpServers({ httpUrl: url, ...rest })
  },
  zed: {
    title: 'Zed',
    place: 'settings.json (the action "zed: open settings file")',
    stdio: entry => json({ context_servers: { patchbay: entry } }),
    http: entry => json({ context_servers: { patchbay: entry } })
  },
  inspector: {
    title: 'MCP Inspector',
    place: 'run this in a terminal',
    stdio: ({ command, args, env }) =>
      `npx @modelcontextprotocol/inspector --cli ${variableFlags(env)}${shell([command, ...args])} --method tools/list`,
    http: entry => `npx @modelcontextprotocol/inspector --cli ${entry.url}${headerFlags(entry)} --method tools/list`
  }
}

const json = (value: object): string => JSON.stringify(value, null, 2)

const toml = (lines: string[]): string => ['[mcp_servers.patchbay]', ...lines].join('\n')

const inlineTable = (values: Record<string, string>): string =>
  `{ ${Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(', ')} }`

/**
 * For clients that only launch programs. A header with a space in it is split by some of them, so it comes from the
 * environment.
 */
function bridge ({ url, headers = {} }: HttpEntry): object {
  const { Authorization } = headers
  const args = ['-y', 'mcp-remote', url]
  if (Authorization === undefined) return { command: 'npx', args }
  // The bridge replaces it with the variable.
  return {
    command: 'npx',
    args: [...args, '--header', `Authorization:${'$'}{AUTHORIZATION}`],
    env: { AUTHORIZATION: Authorization }
  }
}

const headerFlags = ({ headers = {} }: HttpEntry): string =>
  Object.entries(headers)
    .map(([name, value]) => ` --header ${quote(`${name}: ${value}`)}`)
    .join('')

const variableFlags = (env: Record<string, string> = {}): string =>
  Object.entries(env)
    .map(([name, value]) => `${shell(['-e', `${name}=${value}`])} `)
    .join('')

const shell = (words: string[]): string => words.map(word => /^[\w./:@=+-]+$/.test(word) ? word : quote(word)).join(' ')

const quote = (word: string): string => `"${word.replace(/(["\\$`])/g, '\\$1')}"`
