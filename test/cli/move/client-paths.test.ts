import t from 'tap'
import { filesOf, MOVING_CLIENTS, movingClient } from '../../../cli/move/clients.js'

const LINUX = { platform: 'linux', env: {}, home: '/home/ada', cwd: '/project' }
const MAC = { platform: 'darwin', env: {}, home: '/Users/ada', cwd: '/project' }
const WINDOWS = {
  platform: 'win32',
  env: { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
  home: 'C:\\Users\\ada',
  cwd: 'C:\\work'
}
const ROAMING = WINDOWS.env.APPDATA

/** The first file of the user on Linux, macOS and Windows, and the first of a project on Linux. */
const PATHS: Record<string, [linux: string, mac: string, windows: string, project?: string]> = {
  'claude-desktop': [
    '/home/ada/.config/Claude/claude_desktop_config.json',
    '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
    `${ROAMING}\\Claude\\claude_desktop_config.json`
  ],
  'claude-code': ['/home/ada/.claude.json', '/Users/ada/.claude.json', 'C:\\Users\\ada\\.claude.json', '/project/.mcp.json'],
  cursor: [
    '/home/ada/.cursor/mcp.json',
    '/Users/ada/.cursor/mcp.json',
    'C:\\Users\\ada\\.cursor\\mcp.json',
    '/project/.cursor/mcp.json'
  ],
  vscode: [
    '/home/ada/.config/Code/User/mcp.json',
    '/Users/ada/Library/Application Support/Code/User/mcp.json',
    `${ROAMING}\\Code\\User\\mcp.json`,
    '/project/.vscode/mcp.json'
  ],
  codex: [
    '/home/ada/.codex/config.toml',
    '/Users/ada/.codex/config.toml',
    'C:\\Users\\ada\\.codex\\config.toml',
    '/project/.codex/config.toml'
  ],
  gemini: [
    '/home/ada/.gemini/settings.json',
    '/Users/ada/.gemini/settings.json',
    'C:\\Users\\ada\\.gemini\\settings.json',
    '/project/.gemini/settings.json'
  ],
  windsurf: [
    '/home/ada/.codeium/windsurf/mcp_config.json',
    '/Users/ada/.codeium/windsurf/mcp_config.json',
    'C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json'
  ],
  zed: [
    '/home/ada/.config/zed/settings.json',
    '/Users/ada/.config/zed/settings.json',
    `${ROAMING}\\Zed\\settings.json`,
    '/project/.zed/settings.json'
  ],
  cline: [
    '/home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    '/Users/ada/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    `${ROAMING}\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json`
  ],
  kiro: [
    '/home/ada/.kiro/settings/mcp.json',
    '/Users/ada/.kiro/settings/mcp.json',
    'C:\\Users\\ada\\.kiro\\settings\\mcp.json',
    '/project/.kiro/settings/mcp.json'
  ],
  continue: [
    '/home/ada/.continue/config.yaml',
    '/Users/ada/.continue/config.yaml',
    'C:\\Users\\ada\\.continue\\config.yaml'
  ]
}

t.test('all eleven clients are known', async t => t.strictSame(Object.keys(MOVING_CLIENTS), Object.keys(PATHS)))

for (const [name, [linux, mac, windows, project]] of Object.entries(PATHS)) {
  t.test(`the files of ${name} on Linux, macOS and Windows`, async t => {
    const client = movingClient(name)
    t.equal(filesOf(client, LINUX).user[0], linux)
    t.equal(filesOf(client, MAC).user[0], mac)
    t.equal(filesOf(client, WINDOWS).user[0], windows)
    t.equal(filesOf(client, LINUX).project[0], project)
  })
}

t.test('other files, variables that name folders, and a machine without a home', async t => {
  t.strictSame(filesOf(movingClient('windsurf'), LINUX).user[1], '/home/ada/.codeium/mcp_config.json')
  t.strictSame(filesOf(movingClient('cline'), LINUX).user[1], '/home/ada/.cline/mcp.json')
  const xdg = { ...LINUX, env: { XDG_CONFIG_HOME: '/settings' } }
  t.equal(filesOf(movingClient('vscode'), xdg).user[0], '/settings/Code/User/mcp.json')
  t.strictSame(filesOf(movingClient('cursor'), { ...LINUX, cwd: '/home/ada' }).project, [], 'the user is no project')
  t.throws(() => filesOf(movingClient('cursor'), { ...LINUX, home: undefined }), /no home folder/)
  t.throws(() => movingClient('cursr'), { message: 'there is no client "cursr"; did you mean "cursor"?' })
  t.throws(() => movingClient('x'), /these are: claude-desktop, claude-code, cursor/)
})
