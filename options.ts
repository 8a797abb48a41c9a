import { Type, type Static } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { metadataUrl } from './protocol/http/protected-resource.js'
import { compile } from './protocol/schema/schema.js'
import { DEFAULT_SCOPES } from './protocol/wire/identity.js'
import { isSafe } from './system/credentials/fetch-json.js'
import { isNetwork } from './lib/network/network-notation.js'

const Milliseconds = (preset: number, description: string) => Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: preset, description })
const Command = Type.Object({
  program: Type.Optional(Type.String({ minLength: 1 })),
  args: Type.Optional(Type.Array(Type.String())),
  maxArgs: Type.Optional(Type.Integer({ minimum: 0 })),
  folder: Type.Optional(Type.String({ minLength: 1 })),
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000 }))
}, { additionalProperties: false })

const Scopes = Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]{1,128}$' }))
/** A key that is accepted. Only its hash is stored. */
export const ApiKey = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9._@-]{1,64}$' }),
  hash: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  scopes: Scopes,
  expires: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T[0-9:.]+Z)?$' }))
}, { additionalProperties: false })
const OAuth = Type.Object({
  issuer: Type.String({ pattern: '^https?://' }),
  resource: Type.String({ pattern: '^https?://[^#]+[^#/]$' }),
  jwks: Type.Optional(Type.String({ pattern: '^https?://' })),
  algorithms: Type.Optional(Type.Array(Type.String({ pattern: '^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$' }), { minItems: 1 })),
  scopes: Type.Optional(Scopes)
}, {
  additionalProperties: false,
  description: 'The authorization server whose access tokens are accepted: `issuer`, and `resource`, the URL that clients use for this server; also `jwks`, `algorithms`, `scopes`'
})
const Rate = Type.Integer({ minimum: 1 })

const Count = (preset: number, description: string) => Type.Integer({ minimum: 1, default: preset, description })

/** All options of the config file and the environment; the first ones can also be set on the command line. */
export const Options = Type.Object({
  stdio: Type.Boolean({ default: false, description: 'Serve MCP on standard input and output' }),
  port: Type.Integer({ minimum: 0, maximum: 65535, default: 8080, description: 'The port for HTTP and WebSocket; 0 picks a free one' }),
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'The address to listen on' }),
  plugins: Type.Array(Type.Unsafe<string | FastifyPluginAsync>({}), { default: [], description: 'Fastify plugins, or files that export a tool, resource, prompt or plugin' }),
  logLevel: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info', description: 'The lowest level of log messages that are written to standard error'
  }),
  data: Type.Optional(Type.String({ minLength: 1, description: 'The folder for notes, the counter, sessions and event streams. The command has a default folder; an embedded gateway keeps them in memory' })),
  ephemeral: Type.Boolean({ default: false, description: 'Keep everything in memory; overrides `data`' }),
  roots: Type.Array(Type.String({ minLength: 1 }), { default: [], description: 'Folders whose files are served, read-only, as resources' }),
  http: Type.Boolean({ default: true, description: 'Serve HTTP and WebSocket' }),
  keepServing: Type.Boolean({ default: false, description: 'With `stdio` and `http`: keep serving HTTP and WebSocket when standard input ends or standard output breaks' }),
  prefix: Type.String({ pattern: '^(/[^/]+)*$', 'x-expected': 'must begin with / and not end with one', default: '', description: 'The path before every route, for example /ai' }),
  tools: Type.Boolean({ default: true, description: 'Serve the built-in tools, resources and prompts. An embedded gateway serves them only if this is set to true' }),
  name: Type.String({ minLength: 1, default: 'mcp-patchbay', description: 'The name of the server in `serverInfo` and `/health`' }),
  instructions: Type.Optional(Type.String({ description: 'Guidance for models, sent to every client' })),
  secret: Type.Optional(Type.String({ minLength: 16, description: 'The key that encrypts cursors and request states; gateways that serve the same clients need the same one' })),
  allowedHosts: Type.Array(Type.String(), { default: [], description: 'Values of the `Host` header that are accepted, besides loopback names' }),
  allowedOrigins: Type.Array(Type.String(), { default: [], description: 'Web origins that may send requests, besides loopback ones' }),
  allowAnonymous: Type.Boolean({ default: false, description: 'Serve other machines without authentication. Embedded: a request without an identity has every right' }),
  trustProxy: Type.Optional(Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1 }))], {
    'x-expected': 'must be true, false or a list of the addresses and networks of your proxies, for example ["10.0.0.0/8"]',
    description: 'Addresses and networks of proxies whose `X-Forwarded-For` is trusted; `true` trusts every sender'
  })),
  apiKeys: Type.Array(ApiKey, { default: [], description: 'The accepted API keys (name, hash, scopes, expiry); `patchbay key NAME` creates one' }),
  oauth: Type.Optional(OAuth),
  token: Type.Optional(Type.String({ minLength: 1, description: 'The API key or access token that decides what the stdio client may do; without one it may do everything' })),
  scopes: Type.Record(Type.String({ pattern: '^(tools|resources|prompts)/.' }), Scopes, { additionalProperties: false, default: {}, description: 'The scopes that a tool, resource or prompt requires, in place of those in its definition, for example {"tools/web_search":["search"]}' }),
  ticketLifetime: Milliseconds(30_000, 'How long a ticket is valid'),
  maxWrongCredentials: Count(60, 'The most wrong credentials from one address in a minute; more are answered with 429. Valid credentials are always accepted'),
  audit: Type.Boolean({ default: true, description: 'Log one line for each call: caller, method, target and outcome, never arguments' }),
  rate: Count(200_000, 'The most calls of one caller in a second, on average'),
  burst: Count(400_000, 'The most calls of one caller in a second, after a time with fewer calls'),
  toolRates: Type.Record(Type.String(), Rate, { default: { execute_command: 100, web_search: 100 }, description: 'The most calls of one caller in a second to a tool, by tool name' }),
  redis: Type.Optional(Type.String({ pattern: '^rediss?://', 'x-expected': 'must be a redis:// or rediss:// URL', description: 'The Redis server in which several gateways count the calls of their callers together' })),
  clipboard: Type.Object({ remote: Type.Boolean() }, { additionalProperties: false, default: { remote: false }, description: 'With `remote` true, the clipboard tools are served even where other machines can reach the gateway' }),
  allowForwarded: Type.Boolean({ default: false, description: 'Serve the clipboard tools and execute_command also to requests that came through a proxy' }),
  commands: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._+-]{1,64}$' }), Command, { additionalProperties: false, default: {}, description: 'The programs that execute_command may run, by name' }),
  searchUrl: Type.String({ pattern: '^https?://', 'x-expected': 'must be an http or https URL', default: 'https://html.duckduckgo.com/html/', description: 'The address that web_search sends its queries to' }),
  searchTimeout: Milliseconds(10_000, 'How long a web search may take'),
  maxNotes: Count(10_000, 'The most notes of one caller'),
  maxNote: Count(65_536, 'The longest note, in characters'),
  maxFile: Count(2 * 1024 * 1024, 'The largest file that can be read, in bytes'),
  maxData: Count(1024 * 1024 * 1024, 'The largest size of the data file, in bytes'),
  pageSize: Count(100, 'The number of entries on a page of a list'),
  maxMessage: Count(4 * 1024 * 1024, 'The largest message, in bytes'),
  maxDepth: Count(64, 'The deepest nesting of a message'),
  maxKeys: Count(10_000, 'The most object members in a message'),
  maxValues: Count(100_000, 'The most values in a message: list elements and object members together'),
  maxId: Count(1_024, 'The longest request id and the longest progress token, in characters'),
  maxUri: Count(2_048, 'The longest URI, in characters'),
  maxBatch: Count(100, 'The most messages in a batch'),
  maxCapabilities: Count(65_536, 'The longest `capabilities` of a client, in characters of JSON'),
  maxInFlight: Count(1_024, 'The most calls in flight on one connection or session'),
  maxBytesInFlight: Count(32 * 1024 * 1024, 'The most bytes that the calls in flight of one connection or session may hold'),
  maxAllBytesInFlight: Type.Optional(Type.Integer({ minimum: 1, description: 'The most bytes that all calls in flight and all messages being received may hold together. Default: an eighth of the heap that Node.js may use' })),
  maxPipelined: Count(64, 'The most HTTP requests that wait for their reply on one connection'),
  maxSubscriptions: Count(1_024, 'The most resources that one client may subscribe to'),
  maxSubscriptionText: Count(65_536, 'The most characters in all subscribed URIs of one client together'),
  maxStreams: Count(16_384, 'The most event streams open at once'),
  maxConnections: Count(16_384, 'The most connections open at once'),
  maxConnectionsPerAddress: Count(16_384, 'The most connections open at once from one address'),
  maxHeaders: Count(200, 'The most headers of an HTTP request'),
  headersTimeout: Milliseconds(10_000, 'How long a client may take to send the headers of an HTTP request'),
  requestTimeout: Milliseconds(30_000, 'How long a client may take to send a whole HTTP request'),
  maxFragments: Count(256, 'The most frames of one WebSocket message'),
  assemblyTimeout: Milliseconds(10_000, 'How long a client may take to send a whole WebSocket message'),
  maxPings: Count(100, 'The most pings and pongs of a WebSocket client in a second'),
  maxEventLoopDelay: Milliseconds(1_000, 'The event loop delay above which new calls are refused, if it lasts'),
  maxHeap: Type.Optional(Type.Integer({ minimum: 1, description: 'The heap size above which new calls are refused, in bytes. Default: nine tenths of the heap that Node.js may use' })),
  maxRss: Type.Optional(Type.Integer({ minimum: 1, description: 'The resident memory above which new calls are refused, in bytes. Default: eight tenths of the memory available' })),
  maxQueue: Count(1024 * 1024, 'The most bytes queued for one client before it must read some of them within `writeDeadline`'),
  maxQueued: Count(64 * 1024 * 1024, 'The most bytes queued for all clients that are behind; above it, such a client is disconnected at its next notification'),
  writeDeadline: Milliseconds(10_000, 'How long a client with a full queue may read nothing before it is disconnected'),
  maxSessions: Count(10_000, 'The most HTTP sessions'),
  maxSessionsPerPrincipal: Count(1_000, 'The most HTTP sessions of one authenticated caller'),
  sessionIdle: Milliseconds(30 * 60_000, 'How long a session lives without a request or an open stream'),
  callTimeout: Milliseconds(60_000, 'How long a call may run without reporting progress or waiting for the client'),
  callTimeoutMax: Milliseconds(600_000, 'How long a call may run in all'),
  grace: Milliseconds(10_000, 'How long calls in flight may take to finish at shutdown'),
  keepAlive: Milliseconds(15_000, 'The interval between keep-alive comments on an event stream'),
  heartbeat: Milliseconds(30_000, 'The interval between pings to a WebSocket client')
}, { additionalProperties: false })

export type Options = Static<typeof Options>

const check = compile(Options)

/** Checks the options and adds defaults. Throws one sentence that names the option and what was expected. */
export function resolveOptions (given: Partial<Options>): Options {
  const complete = { ...defaults(), ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
  const wrong = check(complete)
  if (wrong !== undefined) throw new Error(`option ${describeMistake(wrong)}`)
  const options = complete as Options
  const odd = options.plugins.findIndex(plugin => typeof plugin !== 'string' && typeof plugin !== 'function')
  if (odd !== -1) throw new Error(`option plugins.${odd} must be a file name or a Fastify plugin`)
  if (options.oauth !== undefined) checkUrls(options.oauth)
  checkProxies(options.trustProxy)
  return options
}

function checkProxies (trusted: Options['trustProxy']): void {
  for (const [index, place] of Array.isArray(trusted) ? trusted.entries() : []) {
    if (!isNetwork(place)) throw new Error(`option trustProxy.${index} must be an address, or a network such as 10.0.0.0/8, not "${place}"`)
  }
}

function checkUrls ({ issuer, resource, jwks = issuer }: NonNullable<Options['oauth']>): void {
  for (const [name, value] of Object.entries({ issuer, resource, jwks })) {
    if (/^https?:\/\/[^/]*@/.test(value)) throw new Error(`option oauth.${name} must be an https URL without a user and a password`)
    if (!URL.canParse(value) || !isSafe(new URL(value))) throw new Error(`option oauth.${name} must be an https URL (http is for this very machine), not "${value}"`)
  }
  if (/[?#]/.test(issuer)) throw new Error(`option oauth.issuer must be a URL without ? and #, not "${issuer}"`)
}

function describeMistake (wrong: string): string {
  const name = wrong.split(/[ .;]/)[0] as keyof typeof Options.properties
  const expected: unknown = Options.properties[name]?.['x-expected']
  if (typeof expected === 'string') return `${name} ${expected}`
  return wrong.replace(/^it must NOT have additional properties: "(.*)"$/, '"$1" does not exist')
}

function defaults (): Record<string, unknown> {
  const entries = Object.entries(Options.properties).filter(([, schema]) => 'default' in schema)
  return Object.fromEntries(entries.map(([name, schema]) => [name, structuredClone(schema.default)]))
}

/** The options of authentication, with the challenge for requests without a valid credential. */
export function authentication ({ prefix }: { prefix: string }, { name, apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials }: Options) {
  const metadata = oauth === undefined ? undefined : metadataUrl(oauth.resource, prefix)
  return { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, scopes: oauth?.scopes ?? DEFAULT_SCOPES, challenger: { realm: name, metadata } }
}
