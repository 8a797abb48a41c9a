/** A file of a client as it looks after months of use: where it is, its text, and the servers that Patchbay gets. */
export interface LargerFile { client: string, place: string, text: string, servers: string[] }

/** Those of clients whose file is plain JSON with nothing but servers in it. */
export const LARGER_JSON: LargerFile[] = [
  {
    client: 'claude-desktop',
    place: '.config/Claude/claude_desktop_config.json',
    servers: ['filesystem', 'brave-search'],
    text: `{
    "preferences": {"menuBarEnabled": false, "quickEntryShortcut": "off"},
    "mcpServers": {
        "filesystem": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada/Desktop", "/home/ada/Ünïcode \\u00e9 \\"x\\""]
        },
        "brave-search": {"command": "npx", "args": ["-y", "server-brave-search"], "env": {"BRAVE_API_KEY": "BSA-0123456789abcdefghij"}}
    },
    "globalShortcut": "", "isUsingBuiltInNodeForMcp": true
}
`
  },
  {
    client: 'cursor',
    place: '.cursor/mcp.json',
    servers: ['GitHub', 'supabase', 'local tools'],
    text: `{"mcpServers" : {
  "GitHub": { "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer \${env:GITHUB_PAT}" } },

  "supabase": { "url": "https://mcp.supabase.com/mcp?project_ref=abc&read_only=true", "auth": { "CLIENT_ID": "me", "scopes": ["read"] } },
  "local tools": { "type": "stdio", "command": "\${userHome}/bin/tools", "args": [], "envFile": ".env" }
  }, "version": 1 }`
  },
  {
    client: 'windsurf',
    place: '.codeium/windsurf/mcp_config.json',
    servers: ['figma', 'playwright'],
    text: `{
  "mcpServers": {
    "figma": { "serverUrl": "https://mcp.figma.com/mcp", "disabledTools": [], "headers": { "X-Figma-Region": "\${env:REGION}" } },
    "off": { "command": "off", "disabled": true },
    "playwright": { "args": ["@playwright/mcp@latest"], "command": "npx", "env": {} }
  }
}
`
  },
  {
    client: 'cline',
    place: '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    servers: ['github.com/upstash/context7-mcp', 'old-sse'],
    text: `{
  "mcpServers": {
    "github.com/upstash/context7-mcp": {
      "autoApprove": [
        "resolve-library-id",
        "query-docs"
      ],
      "disabled": false,
      "timeout": 60,
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@upstash/context7-mcp@latest"
      ]
    },
    "old-sse": {
      "url": "https://mcp.example.com/sse",
      "transportType": "sse",
      "alwaysAllow": []
    }
  }
}`
  },
  {
    client: 'kiro',
    place: '.kiro/settings/mcp.json',
    servers: ['aws', 'remote'],
    text: `{
  "mcpServers": {
    "aws": {
      "command": "uvx", "args": ["awslabs.core-mcp-server@latest"],
      "env": { "FASTMCP_LOG_LEVEL": "ERROR" }, "disabled": false, "autoApprove": ["a", "b"], "disabledTools": ["c"]
    },
    "remote": { "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer \${KIRO_TOKEN}" }, "oauthScopes": ["read"] }
  },
  "powers": { "mcpServers": {} }
}
`
  }
]
