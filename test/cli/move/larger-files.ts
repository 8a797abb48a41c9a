import { LARGER_JSON, type LargerFile } from './larger-json-files.js'

export const LARGER: LargerFile[] = [
  {
    client: 'claude-code',
    place: '.claude.json',
    servers: ['memory', 'sentry', 'postgres'],
    text: `{
  "numStartups": 1412,
  "installMethod": "npm-global",
  "autoUpdates": true,
  "tipsHistory": {"new-user-warmup": 3, "plan-mode-for-complex-tasks": 1399},
  "mcpServers": {
    "memory": {"type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {}},
    "sentry": {
      "type": "http",
      "url": "https://mcp.sentry.dev/mcp"
    }
  },
  "projects": {
    "/home/ada/shop": {
      "allowedTools": ["Bash(npm test:*)"],
      "history": [{"display": "fix \\"mcpServers\\": {} in the readme", "pastedContents": {}}],
      "mcpContextUris": [],
      "mcpServers": {
        "postgres": {"type": "stdio", "command": "npx", "args": ["-y", "mcp-postgres"], "env": {"PGHOST": "localhost"}},
        "memory": {"type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {}}
      },
      "hasTrustDialogAccepted": true
    },
    "/home/ada/blog": {"allowedTools": [], "mcpServers": {}}
  },
  "oauthAccount": {"accountUuid": "0b9", "emailAddress": "ada@example.com"},
  "userID": "5f1c"
}`
  },
  {
    client: 'zed',
    place: '.config/zed/settings.json',
    servers: ['filesystem', 'linear'],
    text: `// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "ui_font_size": 16,
  "theme": {
    "mode": "system",
    "light": "One Light", // by day
    "dark": "One Dark",
  },
  /* Servers of the agent panel.
     "filesystem": { "command": "old" }, */
  "context_servers": {
    // Files of the home folder
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada"],
      "env": {},
    }, // read and write
    "mcp-server-github": { "enabled": true, "settings": { "github_personal_access_token": "in-the-extension" } },
    // Issues
    "linear": { "url": "https://mcp.linear.app/mcp" },
    // Nothing below
  },
  "languages": { "TypeScript": { "tab_size": 2 } },
}
`
  },
  {
    client: 'vscode',
    place: '.config/Code/User/mcp.json',
    servers: ['github', 'Perplexity'],
    text: `{
\t"inputs": [
\t\t{ "type": "promptString", "id": "perplexity-key", "description": "Key", "password": true },
\t],
\t"servers": {
\t\t"github": {
\t\t\t"type": "http",
\t\t\t"url": "https://api.githubcopilot.com/mcp/"
\t\t},
\t\t// asks
\t\t"Perplexity": {
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "server-perplexity-ask"],
\t\t\t"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" }
\t\t},
\t\t"boxed": { "command": "x", "sandboxEnabled": true }
\t}
}
`
  },
  {
    client: 'codex',
    place: '.codex/config.toml',
    servers: ['context7', 'figma remote', 'inline', 'dotted'],
    text: `# Codex
model = "gpt-5-codex"
model_reasoning_effort = "high"
notify = [
  "python3", # [mcp_servers.not_a_table]
  "/home/ada/notify.py",
]
instructions = """
Never touch
[mcp_servers.context7]
command = "rm" """

# Library documentation
[mcp_servers.context7]
command = "npx" # always the newest
# arguments
args = [
  "-y",
  "@upstash/context7-mcp",
]
startup_timeout_sec = 20

[mcp_servers.context7.env]
LOG_LEVEL = 'warn'

# Design
[ mcp_servers . "figma remote" ]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"

[mcp_servers]
inline = { command = "inline", args = ["a b", "]"] }
dotted.command = "dotted"
dotted.args = ["x"]

[mcp_servers.off]
command = "off"
enabled = false

# Profiles
[profiles.fast]
model = "gpt-5-mini"

[[hooks]]
name = "one"

[[hooks]]
name = "two"

[projects."/home/ada/shop"]
trust_level = "trusted"`
  },
  {
    client: 'gemini',
    place: '.gemini/settings.json',
    servers: ['python'],
    text: '{"theme":"GitHub","selectedAuthType":"oauth-personal","mcpServers":{"python":{"command":"python","args":["-m","server"],"env":{"DB":"$DB_URL"},"timeout":15000,"trust":true}},"telemetry":{"enabled":false}}'
  },
  {
    client: 'continue',
    place: '.continue/config.yaml',
    servers: ['SQLite', 'Search'],
    text: `name: Local Assistant
version: 1.0.0
schema: v1

# Models
models:
  - name: Sonnet
    provider: anthropic
    model: claude-sonnet-4
    apiKey: \${{ secrets.ANTHROPIC_API_KEY }}
    roles: [chat, edit]

mcpServers:
  # A database
  - name: SQLite
    command: npx
    args:
      - "-y"
      - "mcp-sqlite" # the package
    env:
      MODE: \${{ secrets.SQLITE_MODE }}
  # Not for Patchbay

  - name: Broken
    type: stdio
  - name: Search # the web
    type: streamable-http
    url: https://mcp.example.com/mcp
    requestOptions:
      headers:
        X-Team: shop

# Rules
rules:
  - |
    Never touch
    mcpServers:
      - name: SQLite
context:
  - provider: code
`
  },
  ...LARGER_JSON
]
