import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StreamableHTTPClientTransport as StreamableV2 } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import { connectV2 } from '../clients/client-v2.js'
import type { Official } from '../clients/official.js'
import { text } from '../clients/script.js'
import { connectV1 } from '../clients/sdk-v1.js'
import { inFrontOf } from '../support/upstreams.js'
import { nextEvent } from '../support/wait.js'
import { programOf, serveEverything, serveOnPort } from './real/everything.js'
import { listsOf } from './real/lists.js'

/** Schemas as their servers wrote them, to compare them. */
const AS_IS = { schemas: 'as-is' } as const

type Entry = { command: string, args: string[], env?: Record<string, string> } | { type: string, url: string }

t.test('server-everything', async t => {
  t.setTimeout(120_000)
  process.env['OWN_VARIABLE'] = 'of the gateway'
  t.teardown(() => { delete process.env['OWN_VARIABLE'] })
  const [http, sse] = [await serveEverything(t, 'streamableHttp'), await serveEverything(t, 'sse')]
  const entries = {
    stdio: program('server-everything', ['stdio']),
    http: { type: 'http', url: http },
    sse: { type: 'sse', url: sse }
  }
  const mcpServers = Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [`every-${name}`, { ...entry, sampling: true }])
  )
  const { url } = await inFrontOf(t, mcpServers, AS_IS)
  for (const [name, entry] of Object.entries(entries)) {
    await t.test(`over ${name}`, async t => {
      await sameLists(t, entry, `${url}/mcp/every-${name}`)
      for (const [generation, official] of Object.entries(await inFront(t, `${url}/mcp/every-${name}`))) {
        await t.test(`with the client ${generation}`, async t => {
          await everything(t, official)
          // Those that have a URL were started by this test.
          if (name === 'stdio') {
            t.notMatch(
              text(await official.call({ name: 'get-env' })),
              /OWN_VARIABLE/,
              'the environment of the gateway is its own'
            )
          }
        })
      }
    })
  }
})

t.test('server-filesystem', async t => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'files-')))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  const entry = program('server-filesystem', [folder])
  const { url } = await inFrontOf(t, { files: entry }, AS_IS)
  await sameLists(t, entry, `${url}/mcp/files`)
  for (const [generation, { call }] of Object.entries(await inFront(t, `${url}/mcp/files`))) {
    const path = join(folder, `${generation}.txt`)
    await call({ name: 'write_file', arguments: { path, content: 'é\n' } })
    t.equal(await readFile(path, 'utf8'), 'é\n')
    t.equal(text(await call({ name: 'read_text_file', arguments: { path } })), 'é\n')
    t.match(
      await call({ name: 'read_text_file', arguments: { path: '/etc/passwd' } }),
      { isError: true, content: [{ text: /[Aa]ccess denied/ }] },
      'the folder stays the only one'
    )
  }
})

t.test('server-memory', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'memory-'))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  const entry = program('server-memory', [], { MEMORY_FILE_PATH: join(folder, 'graph.jsonl') })
  const { url } = await inFrontOf(t, { memory: entry }, AS_IS)
  await sameLists(t, entry, `${url}/mcp/memory`)
  for (const [generation, { call }] of Object.entries(await inFront(t, `${url}/mcp/memory`))) {
    await call({
      name: 'create_entities',
      arguments: { entities: [{ name: generation, entityType: 'client', observations: ['asks'] }] }
    })
    t.match(text(await call({ name: 'read_graph' })), generation)
  }
})

t.test('a server of the second generation of the SDK', async t => {
  const entry = { command: process.execPath, args: [fileURLToPath(new URL('real/sdk-v2-server.js', import.meta.url))] }
  const { app, url } = await inFrontOf(t, { second: entry }, AS_IS)
  t.match(app.mcp.upstreams.status(), [{ state: 'ready' }])
  await sameLists(t, entry, `${url}/mcp/second`)
  for (const { call, verbs } of Object.values(await inFront(t, `${url}/mcp/second`))) {
    t.equal(text(await call({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!')
    t.equal(text(await call({ name: 'ask' })), 'Hello, Ada!')
    t.match(await verbs.readResource({ uri: 'motd://today' }), { contents: [{ text: 'Be kind.' }] })
    t.match(await verbs.getPrompt({ name: 'poem' }), { messages: [{ content: { text: 'Write a poem.' } }] })
  }
})

t.test('a server of fastmcp', async t => {
  const program = fileURLToPath(new URL('real/fastmcp-server.js', import.meta.url))
  const port = await serveOnPort(t, port => ({ args: [program, port] }))
  const entries: Record<string, Entry> = {
    stdio: { command: process.execPath, args: [program] },
    http: { type: 'http', url: `http://127.0.0.1:${port}/mcp` }
  }
  const { url } = await inFrontOf(t, entries, AS_IS)
  for (const [name, entry] of Object.entries(entries)) {
    await t.test(`over ${name}`, async t => {
      await sameLists(t, entry, `${url}/mcp/${name}`)
      for (const [generation, official] of Object.entries(await inFront(t, `${url}/mcp/${name}`))) {
        await t.test(`with the client ${generation}`, async t => await fastmcp(t, official))
      }
    })
  }
})

/** Checks what fastmcp has of the protocol. */
async function fastmcp (t: Test, { call, verbs, events, listenToLogs }: Official): Promise<void> {
  t.equal(text(await call({ name: 'greet', arguments: { name: 'é' } })), 'Hello, é!')
  t.match(await call({ name: 'fail' }), { isError: true, content: [{ text: /not today/ }] })
  await t.rejects(call({ name: 'greet' }), { code: -32602, message: /name/ }, 'arguments are checked by the server')
  const progress: object[] = []
  const onprogress = (step: object) => { if (progress.push(step) === 3) void call({ name: 'ended' }) }
  t.equal(text(await call({ name: 'steps', arguments: { steps: 3 } }, { onprogress })), '3 steps')
  t.match(progress, [1, 2, 3].map(progress => ({ progress, total: 3 })))
  const heard = nextEvent(events, 'log').then(logged => { void call({ name: 'ended' }); return logged })
  const [logged] = await Promise.all([
    heard,
    call({ name: 'say', arguments: { text: 'careful' }, ...(await listenToLogs('info')) })
  ])
  t.match(logged, [{ level: 'warning', data: { message: 'careful' } }])
  t.match(await verbs.readResource({ uri: 'motd://today' }), { contents: [{ text: 'Be kind.' }] })
  t.match(await verbs.readResource({ uri: 'person://Ada' }), { contents: [{ uri: 'person://Ada', text: 'About Ada' }] })
  t.match(await verbs.getPrompt({ name: 'poem', arguments: { about: 'sand' } }), {
    messages: [{ content: { text: 'Write a poem about sand.' } }]
  })
  const completed = { completion: { values: ['Ada', 'Alan'] } }
  t.match(
    await verbs.complete({ ref: { type: 'ref/prompt', name: 'poem' }, argument: { name: 'about', value: 'A' } }),
    completed
  )
  t.match(
    await verbs.complete({
      ref: { type: 'ref/resource', uri: 'person://{name}' },
      argument: { name: 'name', value: 'A' }
    }),
    completed
  )
}

/** Checks what server-everything shows of the protocol. */
async function everything (t: Test, { call, verbs }: Official): Promise<void> {
  t.equal(text(await call({ name: 'echo', arguments: { message: 'é' } })), 'Echo: é')
  t.match(await call({ name: 'get-tiny-image' }), { content: [{}, { type: 'image', mimeType: 'image/png' }, {}] })
  t.match(await call({ name: 'get-structured-content', arguments: { location: 'Chicago' } }), {
    structuredContent: { temperature: Number }
  })
  t.match(await call({ name: 'get-annotated-message', arguments: { messageType: 'error' } }), {
    content: [{ annotations: { priority: 1 } }]
  })
  t.match(
    await call({ name: 'trigger-sampling-request', arguments: { prompt: 'Capital of France?', maxTokens: 10 } }),
    { content: [{ text: /Paris/ }] }
  )
  t.match(await call({ name: 'trigger-elicitation-request' }), {
    content: [{ text: /provided the requested information/ }]
  })
  t.match(await call({ name: 'get-resource-links', arguments: { count: 2 } }), {
    content: [{}, { type: 'resource_link' }, { type: 'resource_link' }]
  })
  const { resources: [first] } = await verbs.listResources()
  t.match(await verbs.readResource({ uri: first?.uri ?? '' }), { contents: [{ uri: first?.uri }] })
  t.match(await verbs.getPrompt({ name: 'args-prompt', arguments: { city: 'Paris' } }), {
    messages: [{ content: { text: /Paris/ } }]
  })
  t.match(
    await verbs.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' }
    }),
    { completion: { values: ['Engineering'] } }
  )
}

/** Checks that a server lists the same through the gateway as to a client of its own. */
async function sameLists (t: Test, entry: Entry, through: string): Promise<void> {
  // Some servers list what they can do with this client only, so it declares what the gateway does.
  const direct = new Client(
    { name: 'direct', version: '1.0.0' },
    { capabilities: { elicitation: { form: {}, url: {} }, sampling: {} } }
  )
  t.teardown(async () => await direct.close())
  await direct.connect(transportOf(entry))
  const relayed = await connectV1(t, new StreamableHTTPClientTransport(new URL(through)) as Transport)
  const { tools = [], ...others } = await listsOf(direct)
  // Clients without tasks may call those that are tasks only: the gateway waits for them.
  const callable = tools.map(tool => (tool as { execution?: { taskSupport?: string } }).execution?.taskSupport === 'required'
    ? { ...tool, execution: { taskSupport: 'optional' } }
    : tool)
  t.strictSame(await listsOf(relayed.client), { ...others, tools: callable })
  t.equal(relayed.client.getInstructions(), direct.getInstructions()?.trim())
}

async function inFront (t: Test, url: string): Promise<Record<string, Official>> {
  return {
    first: await connectV1(t, new StreamableHTTPClientTransport(new URL(url)) as Transport),
    second: await connectV2(t, new StreamableV2(new URL(url)), { versionNegotiation: { mode: 'auto' } })
  }
}

function transportOf (entry: Entry): Transport {
  if ('command' in entry) return new StdioClientTransport(entry)
  return (
    entry.type === 'sse'
      ? new SSEClientTransport(new URL(entry.url))
      : new StreamableHTTPClientTransport(new URL(entry.url))
  ) as Transport
}

function program (name: string, args: string[], env: Record<string, string> = {}): Entry {
  return { command: process.execPath, args: [programOf(name), ...args], env }
}
