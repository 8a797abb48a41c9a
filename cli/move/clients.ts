import { readdirSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import { didYouMean } from '../../lib/nearest-name.js'
import type { Environment } from '../../system/environment.js'
import type { StdioEntry } from '../report/client-snippets.js'

/** Where the programs of a user keep their files. */
export interface Machine {
  readonly platform: string
  readonly env: Environment
  readonly home: string | undefined
  readonly cwd: string
}

/** The folders that the files of clients are in, and how their paths are joined. */
interface Folders {
  readonly join: (...parts: string[]) => string
  readonly home: string
  /** Of settings: `~/.config`, `~/Library/Application Support` or `%APPDATA%`. */
  readonly config: string
  readonly cwd: string
  readonly isWindows: boolean
}

/** A client whose servers can move to Patchbay. */
export interface MovingClient {
  readonly title: string
  /** The files of the user; the first is the one that `patchbay export` changes. */
  readonly user: (folders: Folders) => string[]
  /** The files of the project in the working directory. */
  readonly project: (folders: Folders) => string[]
  /** The object, or list, that its servers are in. */
  readonly root: readonly string[]
  /** The entry of Patchbay in the form of the client. */
  readonly entry: (launch: StdioEntry) => object
  /** A variable in a text, where the client has another spelling for it than `${NAME}`. */
  readonly variable?: RegExp
}

const plain = (launch: StdioEntry): object => launch
const withType = (launch: StdioEntry): object => ({ type: 'stdio', ...launch })
const MCP_SERVERS = ['mcpServers']

const code = ({ join, config }: Folders, ...parts: string[]): string => join(config, 'Code', 'User', ...parts)

/** The clients by the names that the commands take. */
export const MOVING_CLIENTS: Record<string, MovingClient> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    user: ({ join, config }) => [join(config, 'Claude', 'claude_desktop_config.json')],
    project: () => [],
    root: MCP_SERVERS,
    entry: plain
  },
  'claude-code': {
    title: 'Claude Code',
    user: ({ join, home }) => [join(home, '.claude.json')],
    project: ({ join, cwd }) => [join(cwd, '.mcp.json')],
    root: MCP_SERVERS,
    entry: withType
  },
  cursor: {
    title: 'Cursor',
    user: ({ join, home }) => [join(home, '.cursor', 'mcp.json')],
    project: ({ join, cwd }) => [join(cwd, '.cursor', 'mcp.json')],
    root: MCP_SERVERS,
    entry: plain
  },
  vscode: {
    title: 'VS Code',
    user: folders => [code(folders, 'mcp.json')],
    project: ({ join, cwd }) => [join(cwd, '.vscode', 'mcp.json')],
    root: ['servers'],
    entry: withType
  },
  codex: {
    title: 'Codex',
    user: ({ join, home }) => [join(home, '.codex', 'config.toml')],
    project: ({ join, cwd }) => [join(cwd, '.codex', 'config.toml')],
    root: ['mcp_servers'],
    entry: plain
  },
  gemini: {
    title: 'Gemini CLI',
    user: ({ join, home }) => [join(home, '.gemini', 'settings.json')],
    project: ({ join, cwd }) => [join(cwd, '.gemini', 'settings.json')],
    root: MCP_SERVERS,
    entry: plain,
    variable: /\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%/g
  },
  windsurf: {
    title: 'Windsurf',
    user: ({ join, home }) => [
      join(home, '.codeium', 'windsurf', 'mcp_config.json'),
      join(home, '.codeium', 'mcp_config.json')
    ],
    project: () => [],
    root: MCP_SERVERS,
    entry: plain
  },
  zed: {
    title: 'Zed',
    user: ({ join, home, config, isWindows }) => [
      isWindows ? join(config, 'Zed', 'settings.json') : join(home, '.config', 'zed', 'settings.json')
    ],
    project: ({ join, cwd }) => [join(cwd, '.zed', 'settings.json')],
    root: ['context_servers'],
    entry: plain
  },
  cline: {
    title: 'Cline',
    user: folders => [
      code(folders, 'globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'),
      folders.join(folders.home, '.cline', 'mcp.json')
    ],
    project: () => [],
    root: MCP_SERVERS,
    entry: plain
  },
  kiro: {
    title: 'Kiro',
    user: ({ join, home }) => [join(home, '.kiro', 'settings', 'mcp.json')],
    project: ({ join, cwd }) => [join(cwd, '.kiro', 'settings', 'mcp.json')],
    root: MCP_SERVERS,
    entry: plain
  },
  continue: {
    title: 'Continue',
    user: ({ join, home }) => [
      join(home, '.continue', 'config.yaml'),
      join(home, '.continue', 'config.json'),
      ...filesIn(join(home, '.continue', 'mcpServers'), join)
    ],
    project: ({ join, cwd }) => filesIn(join(cwd, '.continue', 'mcpServers'), join),
    root: MCP_SERVERS,
    entry: launch => ({ name: 'patchbay', ...launch })
  }
}

/** The client of a name. Throws a sentence if there is none. */
export function movingClient (name: string): MovingClient {
  const client = Object.hasOwn(MOVING_CLIENTS, name) ? MOVING_CLIENTS[name] : undefined
  if (client !== undefined) return client
  const names = Object.keys(MOVING_CLIENTS)
  throw new Error(`there is no client "${name}"${didYouMean(name, names) || `; these are: ${names.join(', ')}`}`)
}

/** The files of a client on a machine, whether they are there or not. */
export function filesOf (client: MovingClient, machine: Machine): { user: string[], project: string[] } {
  const folders = foldersOf(machine)
  const user = client.user(folders)
  // In the home folder, a file of the user is no project's.
  return { user, project: client.project(folders).filter(file => !user.includes(file)) }
}

function foldersOf ({ platform, env, home = '', cwd }: Machine): Folders {
  if (home === '') throw new Error('there is no home folder in which the clients keep their files')
  const isWindows = platform === 'win32'
  const { join, isAbsolute } = isWindows ? win32 : posix
  const named = isWindows ? env['APPDATA'] : env['XDG_CONFIG_HOME']
  const given = named !== undefined && isAbsolute(named) ? named : undefined
  const config = platform === 'darwin'
    ? join(home, 'Library', 'Application Support')
    : given ?? (isWindows ? join(home, 'AppData', 'Roaming') : join(home, '.config'))
  return { join, home, config, cwd, isWindows }
}

function filesIn (folder: string, join: (...parts: string[]) => string): string[] {
  try {
    return readdirSync(folder).filter(name => /\.(ya?ml|json)$/.test(name)).sort().map(name => join(folder, name))
  } catch {
    return []
  }
}
