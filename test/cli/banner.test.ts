import t from 'tap'
import { docsPage, typedCommand } from '../../cli/places.js'
import { banner, startLine, type BannerContent } from '../../cli/report/banner.js'
import { listed } from '../support/keys.js'

const SERVED: BannerContent = {
  version: '1.2.3',
  address: 'http://127.0.0.1:8080',
  options: {
    prefix: '',
    stdio: false,
    http: true,
    rest: false,
    data: '/home/ada/data',
    ephemeral: false,
    host: '127.0.0.1',
    allowedHosts: [],
    apiKeys: [],
    mcpServers: {},
    mcpConfig: []
  },
  terminal: true,
  command: 'node dist/cli.js',
  launch: () => ({ command: '/usr/bin/node', args: ['/opt/cli.js', '--stdio'] }),
  inventory: {
    upstreams: ['files', 'github', 'old (disabled)'],
    views: ['reading', 'release'],
    tools: ['add_note', 'calculate'],
    resources: ['server://counter', 'note:///{id}'],
    prompts: ['greeting'],
    toolCount: 12,
    isComplete: false,
    unavailable: [['execute_command', 'no programs are listed']]
  }
}

/** The text to paste into a client. */
const pasted = (text: string): unknown => JSON.parse(/\{\n[^]*\n\}/.exec(text)?.[0] ?? '')

const shown = (more: Partial<BannerContent> = {}): string => banner({ ...SERVED, ...more })

t.test('it has what is served and where, the data folder, and what is missing and why', async t => {
  const text = shown()
  for (const line of [
    /^patchbay 1\.2\.3\n\n/,
    /^ {2}MCP +http:\/\/127\.0\.0\.1:8080\/mcp /m,
    /^ {2}WebSocket +ws:\/\/127\.0\.0\.1:8080\/mcp$/m,
    /^ {2}JSON-RPC +\S+:8080\/message /m,
    /^ {2}HTTP\+SSE +\S+:8080\/sse /m,
    /^ {2}health +\S+:8080\/health$/m,
    /^ {2}data +\/home\/ada\/data$/m,
    /^ {2}upstreams +files, github, old \(disabled\)$/m,
    /^ {2}views +\/mcp\/reading, \/mcp\/release$/m,
    /^ {2}tools +add_note, calculate$/m,
    /^ {2}resources +server:\/\/counter, note:\/\/\/\{id\}$/m,
    /^ {2}prompts +greeting$/m,
    /^ {2}not served +execute_command: no programs are listed$/m
  ]) {
    t.match(text, line)
  }
  t.notMatch(text, /stdio/, 'nothing is said of what is not served')
  t.ok(text.endsWith('\n'))
})

t.test('it says that built-in tools are not served beside upstream servers, and how they are', async t => {
  const of = (options: Partial<BannerContent['options']>): string =>
    shown({ options: { ...SERVED.options, ...options } }).replaceAll(/\s+/g, ' ')
  t.match(
    of({ mcpConfig: ['/home/ada/servers.json'] }),
    'built-in not served beside upstream servers; to serve them, too, set option tools to true (PATCHBAY_TOOLS=true)'
  )
  for (const options of [{}, { mcpConfig: ['a.json'], tools: true }, { mcpConfig: ['a.json'], tools: false }]) {
    t.notMatch(of(options), 'built-in')
  }
})

t.test('it has the URL of the console where that is served', async t => {
  const of = (options: Partial<BannerContent['options']>): string => shown({ options: { ...SERVED.options, ...options } })
  const line = /^ {2}console +http:\/\/127\.0\.0\.1:8080\/console +for people, in a browser$/m
  for (const options of [{}, { host: 'localhost' }, { host: '0.0.0.0', console: true }]) t.match(of(options), line)
  for (const options of [{ console: false }, { host: '0.0.0.0' }]) t.notMatch(of(options), /console/)
  t.notMatch(shown({ address: undefined, options: { ...SERVED.options, http: false, stdio: true } }), /console/)
})

t.test('it has the URL of the metrics where they are served', async t => {
  const of = (options: Partial<BannerContent['options']>): string =>
    shown({ options: { ...SERVED.options, ...options } })
  for (const options of [{}, { host: '0.0.0.0', metrics: true }]) {
    t.match(of(options), /^ {2}metrics +http:\/\/127\.0\.0\.1:8080\/metrics +for Prometheus$/m)
  }
  for (const options of [{ metrics: false }, { host: '0.0.0.0' }]) t.notMatch(of(options), /metrics/)
  t.notMatch(shown({ address: undefined, options: { ...SERVED.options, http: false, stdio: true } }), /metrics/)
})

t.test('the prefix is part of every address', async t => {
  const text = shown({ options: { ...SERVED.options, prefix: '/ai' } })
  t.equal(text.match(/127\.0\.0\.1:8080\/ai\//g)?.length, 8)
  t.equal(text.match(/127\.0\.0\.1:8080\/(?!ai)/g), null)
})

t.test('with https the WebSocket address is wss', async t =>
  t.match(shown({ address: 'https://[::1]:1' }), /WebSocket +wss:\/\/\[::1\]:1\/mcp/)
)

t.test('what to paste into a client is JSON, by address or by command', async t => {
  t.strictSame(pasted(shown()), { mcpServers: { patchbay: { url: 'http://127.0.0.1:8080/mcp' } } })
  const local = shown({ address: undefined, options: { ...SERVED.options, stdio: true } })
  t.strictSame(pasted(local), {
    mcpServers: { patchbay: { command: '/usr/bin/node', args: ['/opt/cli.js', '--stdio'] } }
  })
  t.match(local, /^ {2}stdio +standard input and output of this process$/m)
  t.notMatch(local, /http/)
})

t.test('data in memory is marked as such', async t => {
  for (const options of [
    { ...SERVED.options, ephemeral: true },
    { ...SERVED.options, data: undefined }
  ] as Array<BannerContent['options']>) {
    t.match(shown({ options }), /^ {2}data +in memory, until this process ends$/m)
  }
})

t.test('long lists are wrapped between names, and none is lost', async t => {
  const tools = Array.from({ length: 60 }, (_, index) => `tool_number_${index}`)
  const text = shown({ inventory: { ...SERVED.inventory, tools } })
  t.strictSame(text.match(/tool_number_\d+/g), tools)
  for (const line of text.split('\n').filter(line => line.includes('tool_number'))) {
    t.ok(line.length <= 80, `${line.length}`)
  }
  t.equal(text.match(/^ {2}tools /gm)?.length, 1)
})

t.test('the banner of a gateway without definitions has no lines for them', async t => {
  const text = shown({
    inventory: {
      upstreams: [],
      views: [],
      tools: [],
      resources: [],
      prompts: [],
      toolCount: 0,
      isComplete: true,
      unavailable: []
    }
  })
  t.notMatch(text, /upstreams|views|tools|resources|prompts|not served/)
  t.match(text, /mcpServers/)
})

t.test('it names the callers with keys and the issuer, or states that no credential is needed', async t => {
  const keyed = { ...SERVED.options, apiKeys: [listed('ada', 'a'), listed('bob', 'b'), listed('ada', 'c')] }
  const oauth = { issuer: 'https://auth.example.com', resource: 'https://mcp.example.com/mcp' }
  t.match(shown(), /^ {2}access +callers need no credential$/m)
  t.match(shown({ options: keyed }), /^ {2}keys +ada, bob$/m)
  t.match(
    shown({ options: { ...keyed, oauth } }),
    /^ {2}keys +ada, bob\n {2}OAuth +access tokens of https:\/\/auth\.example\.com$/m
  )
  t.notMatch(shown({ options: { ...SERVED.options, oauth } }), /no credential|keys|Bearer/)
  t.notMatch(
    shown({ address: undefined, options: { ...keyed, stdio: true } }),
    /keys|access|Bearer/,
    'over stdio alone nobody else calls'
  )
  t.strictSame(pasted(shown({ options: keyed })), {
    mcpServers: { patchbay: { url: 'http://127.0.0.1:8080/mcp', headers: { Authorization: 'Bearer <your key>' } } }
  })
})

t.test('what to paste names the gateway as others know it, when it listens on every address', async t => {
  const url = (host: string, allowedHosts: string[], address = SERVED.address) =>
    (
      pasted(shown({ address, options: { ...SERVED.options, host, allowedHosts } })) as {
        mcpServers: { patchbay: { url: string } }
      }
    ).mcpServers.patchbay.url
  t.equal(url('0.0.0.0', ['mcp.example.com', 'other.example.com']), 'http://mcp.example.com:8080/mcp')
  t.equal(url('::', ['mcp.example.com:9000'], 'http://[::]:8080'), 'http://mcp.example.com:9000/mcp')
  t.equal(url('0.0.0.0', []), 'http://127.0.0.1:8080/mcp')
  t.equal(url('192.0.2.7', ['192.0.2.7:8080'], 'http://192.0.2.7:8080'), 'http://192.0.2.7:8080/mcp')
  t.equal(
    url('0.0.0.0', ['localhost', 'mcp.example.com'], 'https://127.0.0.1:8443'),
    'https://mcp.example.com:8443/mcp',
    'with TLS'
  )
})

t.test(
  'behind a proxy what to paste has the public name, with https, and says that this is up to the proxy',
  async t => {
    const proxied = {
      ...SERVED.options,
      allowedHosts: ['localhost:3000', 'mcp.example.com'],
      prefix: '/ai',
      apiKeys: [listed('ada', 'a')]
    }
    t.strictSame(pasted(shown({ options: proxied })), {
      mcpServers: {
        patchbay: { url: 'https://mcp.example.com/ai/mcp', headers: { Authorization: 'Bearer <your key>' } }
      }
    })
    t.match(shown({ options: proxied }), /if your proxy serves this URL:\n/)
    t.notMatch(shown(), /proxy/)
    const oauth = { issuer: 'https://auth.example.com', resource: 'https://mcp.example.com/gate/mcp' }
    t.strictSame(
      pasted(shown({ options: { ...SERVED.options, allowedHosts: ['mcp.example.com'], oauth } })),
      { mcpServers: { patchbay: { url: oauth.resource } } },
      'with OAuth the operator has given the URL'
    )
  }
)

t.test('tools that are missing for the same reason share an entry, wrapped at 80 columns', async t => {
  const why =
    'No display is available here, so there is no clipboard to read or to write; start the gateway in a session of a desktop'
  const text = shown({
    inventory: {
      ...SERVED.inventory,
      tools: ['get_clipboard', 'set_clipboard'],
      unavailable: [
        ['get_clipboard', why],
        ['execute_command', 'no programs'],
        ['set_clipboard', why]
      ]
    }
  })
  t.equal(text.match(/No display/g)?.length, 1)
  t.match(text, /^ {2}failing +get_clipboard, set_clipboard: No display/m)
  t.match(text, /^ {2}not served +execute_command: no programs$/m)
  for (const line of text.split('\n')) t.ok(line.length <= 80, line)
})

t.test('every line fits 80 columns, except for a single long word', async t => {
  const options = {
    ...SERVED.options,
    prefix: '/a/rather/long/prefix/of/some/company',
    data: '/home/ada/a folder/with spaces/in its name/and a path that is really much longer than usual/data'
  }
  const keys = Array.from({ length: 30 }, (_, index) => listed(`caller-${index}@example.com`, String(index)))
  for (const line of shown({ address: 'http://mcp.example.com:8080', options: { ...options, apiKeys: keys } }).split(
    '\n'
  )) {
    t.ok(
      line.length <= 80 ||
        line
          .trim()
          .split(' ')
          .some(word => word.length > 60),
      line
    )
  }
})

t.test('it names the clients that the snippet is for, the command for others, and the page', async t => {
  t.match(
    shown(),
    /^For Cursor and others; other clients: node dist\/cli\.js clients\nHow to see that it works:\s+\S*docs\/clients\.md$/m
  )
  t.match(
    shown({ address: undefined }),
    /^For Claude Desktop, Cursor and others; other clients: node dist\/cli\.js clients$/m
  )
  t.match(
    shown({ command: 'node /home/ada/projects/patchbay/dist/cli.js' }),
    /^For Cursor and others; other clients:\n {2}node \/home\/ada\/projects\/patchbay\/dist\/cli\.js clients$/m
  )
})

t.test('the command and pages are named as they can be typed and opened', async t => {
  const base = 'file:///opt/patchbay/dist/app.js'
  t.equal(docsPage('clients.md', '/opt/patchbay', base), 'docs/clients.md')
  for (const cwd of ['/home/ada', '/opt', '/opt/patchbay/docs', '/']) {
    t.equal(docsPage('clients.md', cwd, base), '/opt/patchbay/docs/clients.md', cwd)
  }
  t.equal(typedCommand('/usr/local/bin/patchbay', '/home/ada'), 'patchbay')
  t.equal(typedCommand('/opt/patchbay/dist/cli.js', '/opt/patchbay'), 'node dist/cli.js')
  t.equal(typedCommand('/opt/patchbay/dist/cli.js', '/home/ada'), 'node /opt/patchbay/dist/cli.js')
  t.equal(typedCommand('/opt/a b/dist/cli.js', '/home/ada'), 'node \'/opt/a b/dist/cli.js\'')
})

t.test('on a terminal it has how to stop; on stdio without one it is one line', async t => {
  t.match(shown(), /\nCtrl-C stops it\.\n$/)
  t.notMatch(shown({ terminal: false }), /Ctrl-C/)
  const stdio = { ...SERVED.options, stdio: true }
  t.equal(
    shown({ terminal: false, options: stdio }),
    'patchbay 1.2.3  stdio; MCP http://127.0.0.1:8080/mcp; 12 tools so far; data /home/ada/data\n'
  )
  t.equal(
    shown({ terminal: false, address: undefined, options: stdio }),
    'patchbay 1.2.3  stdio; 12 tools so far; data /home/ada/data\n'
  )
  t.match(shown({ options: stdio }), /mcpServers/, 'on a terminal a person reads it')
})

t.test('for a log that is JSON, the facts are fields', async t => {
  const { fields, message } = startLine({
    ...SERVED,
    options: { ...SERVED.options, apiKeys: [listed('ada', 'a'), listed('ada', 'b')] }
  })
  t.equal(message, 'patchbay 1.2.3 is up: MCP http://127.0.0.1:8080/mcp; 12 tools so far; data /home/ada/data')
  const base = 'http://127.0.0.1:8080'
  t.strictSame(fields, {
    version: '1.2.3',
    stdio: false,
    urls: {
      console: `${base}/console`,
      MCP: `${base}/mcp`,
      WebSocket: 'ws://127.0.0.1:8080/mcp',
      'JSON-RPC': `${base}/message`,
      'HTTP+SSE': `${base}/sse`,
      health: `${base}/health`,
      metrics: `${base}/metrics`
    },
    keys: ['ada'],
    anonymous: false,
    data: '/home/ada/data',
    ...SERVED.inventory,
    unavailable: { execute_command: 'no programs are listed' }
  })
  const inventory = { ...SERVED.inventory, toolCount: 1, isComplete: true }
  const local = startLine({
    ...SERVED,
    address: undefined,
    options: { ...SERVED.options, stdio: true, mcpConfig: ['a.json'] },
    inventory
  })
  t.equal(local.message, 'patchbay 1.2.3 is up: stdio; 1 tool; data /home/ada/data')
  t.match(local.fields, { stdio: true, urls: {}, builtIn: /^not served beside upstream servers/ })
  t.notOk('keys' in local.fields, 'over stdio alone there are no other callers')
})
