import { fileURLToPath } from 'node:url'
import t from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'

const FILES = fileURLToPath(new URL('../../../../test/upstreams/files/', import.meta.url))

/** Variables that the files refer to. */
const ENV = {
  GITHUB_TOKEN: 'github',
  API_KEY: 'key',
  LINEAR_TOKEN: 'linear',
  PATCHBAY_INPUT_PERPLEXITY_KEY: 'perplexity',
  CONTEXT7_API_KEY: 'context',
  FIGMA_TOKEN: 'figma',
  FIGMA_TEAM: 'shop',
  DB_URL: 'db',
  AUTH_TOKEN: 'auth',
  OPENWEATHER_API_KEY: 'weather',
  AWS_PROFILE: 'shop',
  KIRO_TOKEN: 'kiro',
  SQLITE_MODE: 'ro',
  SEARCH_KEY: 'search'
}

type Expected = Record<string, Partial<ServerEntry>>

const stdio = (command: string, args: string[], env: Record<string, string>, cwd: string) => ({
  address: { kind: 'stdio', command, args, env, cwd } as const
})
const remote = (kind: 'any' | 'http' | 'sse' | 'websocket', url: string, headers: Record<string, string> = {}) => ({
  address: { kind, url, headers } as const
})

const clients: Record<string, { file: string, servers: Expected, warnings?: RegExp[] }> = {
  'Claude Desktop': {
    file: 'claude-desktop/claude_desktop_config.json',
    servers: {
      filesystem: stdio('npx', ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/Documents'], {}, `${FILES}claude-desktop`),
      'brave-search': { name: 'Brave Search', ...stdio('docker', ['run', '-i', '--rm', '-e', 'BRAVE_API_KEY', 'mcp/brave-search'], { BRAVE_API_KEY: 'brave-key' }, `${FILES}claude-desktop`) }
    }
  },
  'Claude Code, of a project': {
    file: 'claude-code/.mcp.json',
    servers: {
      github: remote('http', 'https://api.githubcopilot.com/mcp/', { Authorization: 'Bearer github' }),
      events: remote('sse', 'https://mcp.example.com/sse'),
      live: remote('websocket', 'wss://mcp.example.com/ws'),
      db: stdio('./servers/db.sh', ['--dsn', 'postgres://localhost/shop'], { CACHE: '$HOME/.cache', LEVEL: '' }, `${FILES}claude-code`)
    }
  },
  'Claude Code, of the user, with those of projects': {
    file: 'claude-code/.claude.json',
    servers: {
      memory: stdio('npx', ['-y', '@modelcontextprotocol/server-memory'], {}, `${FILES}claude-code`),
      postgres: stdio('npx', ['-y', 'mcp-postgres'], { PGHOST: 'localhost' }, '/home/ada/shop')
    }
  },
  Cursor: {
    file: 'cursor/.cursor/mcp.json',
    servers: {
      local: stdio('python', [`${FILES}cursor/tools/mcp_server.py`, '--home', '/home/ada'], { REGION: 'eu-west-1', GREETING: 'hello "world"', API_KEY: 'key' }, `${FILES}cursor`),
      linear: { ...remote('any', 'https://mcp.linear.app/mcp', { Authorization: 'Bearer linear' }), oauth: { scopes: ['read'] } }
    },
    warnings: [/^.*mcp\.json, line 13: server "linear": auth needs the environment variable LINEAR_CLIENT, which is not set; it is left out$/]
  },
  'VS Code': {
    file: 'vscode/.vscode/mcp.json',
    servers: {
      perplexity: { name: 'Perplexity', ...stdio('npx', ['-y', 'server-perplexity-ask', '--region', 'eu'], { PERPLEXITY_API_KEY: 'perplexity' }, `${FILES}vscode`) },
      playwright: remote('any', 'http://localhost:8931/mcp'),
      own: stdio('node', ['server.js'], {}, `${FILES}vscode/tools`)
    }
  },
  Codex: {
    file: 'codex/.codex/config.toml',
    servers: {
      docs: { ...stdio('npx', ['-y', '@upstash/context7-mcp'], { CONTEXT7_API_KEY: 'context', LOG_LEVEL: 'warn' }, `${FILES}codex`), startTimeout: 20_000, timeout: 45_500, includeTools: ['resolve-library-id', 'get-*'] },
      'figma-remote': { ...remote('any', 'https://mcp.figma.com/mcp', { Authorization: 'Bearer figma', 'X-Figma-Region': 'us-east-1', 'X-Figma-Team': 'shop' }), excludeTools: ['delete_file'] },
      old: { disabled: true }
    }
  },
  'Gemini CLI': {
    file: 'gemini/.gemini/settings.json',
    servers: {
      pythontools: { ...stdio('python', ['-m', 'my_mcp_server', '--port', '8080'], { DATABASE_URL: 'db' }, `${FILES}gemini/mcp-servers/python`), timeout: 15_000, includeTools: ['safe_tool', 'file_*'], excludeTools: ['file_delete'] },
      streaming: { ...remote('http', 'http://localhost:3000/mcp', { 'X-Trace': 'on' }), timeout: 5_000 },
      events: remote('sse', 'http://localhost:8081/sse')
    }
  },
  Windsurf: {
    file: 'windsurf/mcp_config.json',
    servers: { 'remote-http-mcp': { ...remote('any', 'https://mcp.example.com/mcp', { API_KEY: 'Bearer auth', 'X-Secret': 'from-a-file' }), excludeTools: ['drop_table'], disabled: false } }
  },
  Zed: {
    file: 'zed/.zed/settings.json',
    servers: {
      'local-mcp-server': { ...stdio('some-command', ['arg-1', 'arg-2'], {}, `${FILES}zed`), timeout: 90_000 },
      older: stdio('node', ['older.js'], { A: 'b' }, `${FILES}zed`),
      'remote-mcp-server': remote('any', 'https://mcp.example.com/mcp', { Authorization: 'Bearer zed-token' })
    },
    warnings: [
      /settings\.json, line 9: server "local-mcp-server": timeout is below 1000, so it is taken as 90 seconds$/,
      /settings\.json, line 13: server "mcp-server-github" belongs to an extension of its client, which knows how to start it; it is left out$/
    ]
  },
  Cline: {
    file: 'cline/cline_mcp_settings.json',
    servers: {
      weather: { ...stdio('node', ['/home/ada/weather/build/index.js'], { OPENWEATHER_API_KEY: 'weather' }, `${FILES}cline`), timeout: 60_000 },
      remote: remote('http', 'https://mcp.example.com/mcp', { 'X-Key': 'cline' }),
      nested: { ...remote('sse', 'https://mcp.example.com/sse', { 'X-Key': 'nested' }), timeout: 30_000 },
      off: { disabled: true }
    },
    warnings: [/server "weather": timeout is below 1000, so it is taken as 60 seconds$/, /server "nested": timeout is below 1000, so it is taken as 30 seconds$/]
  },
  Kiro: {
    file: 'kiro/.kiro/settings/mcp.json',
    servers: {
      'aws-docs': { ...stdio('uvx', ['awslabs.aws-documentation-mcp-server@latest'], { FASTMCP_LOG_LEVEL: 'ERROR', AWS_PROFILE: 'shop' }, `${FILES}kiro`), excludeTools: ['recommend'] },
      web: { ...remote('any', 'https://mcp.example.com/mcp', { Authorization: 'Bearer kiro' }), oauth: { clientId: 'kiro' } }
    }
  },
  Continue: {
    file: 'continue/.continue/mcpServers/team.yaml',
    servers: {
      sqlite: { name: 'SQLite', ...stdio('npx', ['-y', 'mcp-sqlite', '/home/ada/shop.db'], { MODE: 'ro' }, `${FILES}continue`), startTimeout: 20_000 },
      search: remote('http', 'https://mcp.example.com/mcp', { 'X-Team': 'shop', Authorization: 'Bearer search' })
    }
  }
}

const read = async (file: string, env: Record<string, string> = ENV) =>
  await readEntries(flatten(resolveOptions({ mcpConfig: [FILES + file] })), { env, home: '/home/ada', cwd: '/' })

for (const [client, { file, servers, warnings = [] }] of Object.entries(clients)) {
  t.test(`the file of ${client} is read as it is`, async t => {
    const { entries, ...rest } = await read(file)
    t.strictSame(entries.map(({ alias }) => alias), Object.keys(servers))
    for (const entry of entries) {
      t.equal(entry.source, FILES + file)
      for (const [field, value] of Object.entries(servers[entry.alias] ?? {})) {
        t.strictSame(entry[field as keyof ServerEntry], value, `${entry.alias}: ${field}`)
      }
    }
    t.equal(rest.warnings.length, warnings.length, rest.warnings.join('\n'))
    for (const [index, pattern] of warnings.entries()) t.match(rest.warnings[index], pattern)
    t.ok(rest.files.includes(FILES + file))
  })
}

const unset: Array<[file: string, line: number, sentence: string]> = [
  [
    'claude-code/.mcp.json',
    6,
    'server "github": headers.Authorization needs the environment variable GITHUB_TOKEN, which is not set'
  ],
  [
    'cursor/.cursor/mcp.json',
    7,
    'server "local": env.API_KEY needs the environment variable API_KEY, which is not set'
  ],
  [
    'vscode/.vscode/mcp.json',
    12,
    'server "Perplexity": env.PERPLEXITY_API_KEY needs the environment variable PATCHBAY_INPUT_PERPLEXITY_KEY (the client asks its user for "perplexity-key"), which is not set'
  ],
  [
    'codex/.codex/config.toml',
    17,
    'server "figma remote": bearer_token_env_var needs the environment variable FIGMA_TOKEN, which is not set'
  ],
  [
    'codex/.codex/config.toml',
    19,
    'server "figma remote": env_http_headers.X-Figma-Team needs the environment variable FIGMA_TEAM, which is not set'
  ],
  [
    'gemini/.gemini/settings.json',
    8,
    'server "pythonTools": env.DATABASE_URL needs the environment variable DB_URL, which is not set'
  ],
  [
    'windsurf/mcp_config.json',
    5,
    'server "remote-http-mcp": headers.API_KEY needs the environment variable AUTH_TOKEN, which is not set'
  ],
  [
    'cline/cline_mcp_settings.json',
    6,
    'server "weather": env.OPENWEATHER_API_KEY needs the environment variable OPENWEATHER_API_KEY, which is not set'
  ],
  [
    'kiro/.kiro/settings/mcp.json',
    6,
    'server "aws.docs": env.AWS_PROFILE needs the environment variable AWS_PROFILE, which is not set'
  ],
  [
    'continue/.continue/mcpServers/team.yaml',
    13,
    'server "SQLite": env.MODE needs the environment variable SQLITE_MODE, which is not set'
  ],
  [
    'continue/.continue/mcpServers/team.yaml',
    18,
    'server "Search": apiKey needs the environment variable SEARCH_KEY, which is not set'
  ]
]

for (const [file, line, sentence] of unset) {
  t.test(`a variable that is not set is reported with its place: ${sentence}`, async t => {
    const { leftOut } = await read(file, {})
    const sentences = leftOut.flatMap(({ mistakes }) => mistakes.map(({ text }) => text))
    t.ok(sentences.includes(`${FILES}${file}, line ${line}: ${sentence}`), sentences.join('\n'))
  })
}

t.test(
  'all files at once: the same server in two files is served once, two different ones with one name are a mistake of the second',
  async t => {
    const files = ['claude-code/.claude.json', 'claude-desktop/claude_desktop_config.json', 'windsurf/mcp_config.json']
    const options = flatten(
      resolveOptions({
        mcpConfig: files.map(file => FILES + file),
        mcpServers: { memory: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] } }
      })
    )
    const { entries } = await readEntries(options, { env: ENV, home: '/home/ada', cwd: '/' })
    t.strictSame(
      entries.map(({ alias }) => alias),
      ['memory', 'postgres', 'filesystem', 'brave-search', 'remote-http-mcp']
    )
    const clash = flatten(
      resolveOptions({ mcpConfig: [`${FILES}gemini/.gemini/settings.json`, `${FILES}claude-code/.mcp.json`] })
    )
    t.match(await readEntries(clash, { env: ENV, home: '/home/ada', cwd: '/' }), {
      entries: { 0: { source: `${FILES}gemini/.gemini/settings.json` } },
      leftOut: [
        {
          alias: 'events',
          mistakes: [
            {
              text: `${FILES}claude-code/.mcp.json, line 8: server "events" has the same name in URLs and tools, "events", as "events" (${FILES}gemini/.gemini/settings.json); rename or remove one of them`
            }
          ]
        }
      ]
    })
  }
)
