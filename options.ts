import { Type, type Static } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { metadataUrl } from './protocol/http/protected-resource.js'
import { compile } from './protocol/schema/schema.js'
import { BASIC } from './protocol/wire/identity.js'
import { isSafe } from './system/credentials/fetch-json.js'
import { isNetwork } from './lib/network-notation.js'

const Milliseconds = (preset: number, description: string) => Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: preset, description })
const Command = Type.Object({
  program: Type.Optional(Type.String({ minLength: 1 })),
  args: Type.Optional(Type.Array(Type.String())),
  maxArgs: Type.Optional(Type.Integer({ minimum: 0 })),
  folder: Type.Optional(Type.String({ minLength: 1 })),
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000 }))
}, { additionalProperties: false })

const Scopes = Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]{1,128}$' }))
/** Who may come in with which key: `hash` is all that is kept of it. */
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
  description: 'Whose access tokens are accepted: `issuer`, and `resource`, the URL under which clients know this server; also `jwks`, `algorithms`, `scopes`'
})
const Rate = Type.Integer({ minimum: 1 })

const Count = (preset: number, description: string) => Type.Integer({ minimum: 1, default: preset, description })

/** Everything that can be set, in the config file, in the environment and (the first ones) on the command line. */
export const Options = Type.Object({
  stdio: Type.Boolean({ default: false, description: 'Serve standard input and output' }),
  port: Type.Integer({ minimum: 0, maximum: 65535, default: 8080, description: 'Where to listen for HTTP and WebSocket; 0 picks a free port' }),
  host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'The address to listen on' }),
  plugins: Type.Array(Type.Unsafe<string | FastifyPluginAsync>({}), { default: [], description: 'Fastify plugins, or files that export one' }),
  logLevel: Type.Unsafe<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'>({
    type: 'string', enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info', description: 'How much goes to standard error'
  }),
  data: Type.Optional(Type.String({ minLength: 1, description: 'The folder that keeps notes, the counter, sessions and event streams; the command has a default, an embedded gateway keeps them in memory' })),
  ephemeral: Type.Boolean({ default: false, description: 'Keep everything in memory, whatever `data` says' }),
  roots: Type.Array(Type.String({ minLength: 1 }), { default: [], description: 'Folders to serve, read-only, as file resources' }),
  http: Type.Boolean({ default: true, description: 'Serve HTTP and WebSocket' }),
  keepServing: Type.Boolean({ default: false, description: 'Go on serving HTTP and WebSocket when standard input ends or standard output breaks; without `stdio` and `http` together it changes nothing' }),
  prefix: Type.String({ pattern: '^(/[^/]+)*$', 'x-expected': 'must begin with / and not end with one', default: '', description: 'Put before every URL, for example /ai' }),
  tools: Type.Boolean({ default: true, description: 'Serve the built-in tools, resources and prompts; an embedded gateway has none of them unless this is set to true' }),
  name: Type.String({ minLength: 1, default: 'mcp-patchbay', description: 'How the server names itself' }),
  instructions: Type.Optional(Type.String({ description: 'Guidance for models, given to every client' })),
  secret: Type.Optional(Type.String({ minLength: 16, description: 'Shared by instances that serve the same clients; seals cursors and request states' })),
  allowedHosts: Type.Array(Type.String(), { default: [], description: 'Host names besides loopback ones under which the server may be reached' }),
  allowedOrigins: Type.Array(Type.String(), { default: [], description: 'Web origins besides loopback ones that may call the server' }),
  allowAnonymous: Type.Boolean({ default: false, description: 'Serve other machines although callers need no credential; embedded: give every right to requests for which the application sets no identity' }),
  trustProxy: Type.Optional(Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1 }))], {
    'x-expected': 'must be true, false or a list of the addresses and networks of your proxies, for example ["10.0.0.0/8"]',
    description: 'The addresses and networks of proxies whose `X-Forwarded-For` says where a request comes from; `true` believes every sender'
  })),
  apiKeys: Type.Array(ApiKey, { default: [], description: 'Who may come in with which key, and what for; `patchbay key NAME` makes one' }),
  oauth: Type.Optional(OAuth),
  token: Type.Optional(Type.String({ minLength: 1, description: 'The API key or access token that standard input and output speaks for; without one it may do everything' })),
  scopes: Type.Record(Type.String({ pattern: '^(tools|resources|prompts)/.' }), Scopes, { additionalProperties: false, default: {}, description: 'What the caller of something must have been granted, for example {"tools/web_search":["search"]}, in place of what its author says' }),
  ticketLifetime: Milliseconds(30_000, 'How long a ticket for a browser is good'),
  maxWrongCredentials: Count(60, 'How many wrong credentials one address may send in a minute before the answer is 429; right ones are always accepted'),
  audit: Type.Boolean({ default: true, description: 'Log one line for each call: who, what, how it went; never with which arguments' }),
  rate: Count(200_000, 'How many calls a second one caller may make in the long run'),
  burst: Count(400_000, 'How many calls one caller may make at once, when there were fewer before'),
  toolRates: Type.Record(Type.String(), Rate, { default: { execute_command: 100, web_search: 100 }, description: 'How many calls a second one caller may make to a tool, by name' }),
  redis: Type.Optional(Type.String({ pattern: '^rediss?://', 'x-expected': 'must be a redis:// or rediss:// URL', description: 'Where gateways that serve the same callers count their calls together' })),
  clipboard: Type.Object({ remote: Type.Boolean() }, { additionalProperties: false, default: { remote: false }, description: 'Whether the clipboard tools are served although other machines can reach the gateway' }),
  allowForwarded: Type.Boolean({ default: false, description: 'Serve the clipboard tools and execute_command to requests that came through a proxy, too' }),
  commands: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._+-]{1,64}$' }), Command, { additionalProperties: false, default: {}, description: 'The programs that execute_command may run, by name' }),
  searchUrl: Type.String({ pattern: '^https?://', 'x-expected': 'must be an http or https URL', default: 'https://html.duckduckgo.com/html/', description: 'Where web_search asks' }),
  searchTimeout: Milliseconds(10_000, 'How long web_search waits'),
  maxNotes: Count(10_000, 'How many notes one owner may have'),
  maxNote: Count(65_536, 'The longest note, in characters'),
  maxFile: Count(2 * 1024 * 1024, 'The largest file that is served, in bytes'),
  maxData: Count(1024 * 1024 * 1024, 'How large the file in the data folder may become, in bytes'),
  pageSize: Count(100, 'How many entries a page of a list has'),
  maxMessage: Count(4 * 1024 * 1024, 'The largest message, in bytes'),
  maxDepth: Count(64, 'How deep a message may be nested'),
  maxKeys: Count(10_000, 'How many members the objects of a message may have together'),
  maxValues: Count(100_000, 'How many values a message may have, elements of lists and members of objects together'),
  maxId: Count(1_024, 'The longest id of a request, and the longest progress token, in characters'),
  maxUri: Count(2_048, 'The longest URI, in characters'),
  maxBatch: Count(100, 'How many messages a batch may hold'),
  maxCapabilities: Count(65_536, 'How much a client may say about what it can do, in characters of JSON'),
  maxInFlight: Count(1_024, 'How many calls of one connection or session may wait for their answer'),
  maxBytesInFlight: Count(32 * 1024 * 1024, 'How many bytes the calls of one connection or session may hold that wait for their answer'),
  maxAllBytesInFlight: Type.Optional(Type.Integer({ minimum: 1, description: 'How many bytes the calls of all clients together may hold, and the messages that are being received; an eighth of the heap that Node.js may use when not set' })),
  maxPipelined: Count(64, 'How many requests of one HTTP connection may wait for their answer'),
  maxSubscriptions: Count(1_024, 'How many resources one client may subscribe to'),
  maxSubscriptionText: Count(65_536, 'How many characters the URIs of all subscriptions of one client may have together'),
  maxStreams: Count(16_384, 'How many event streams may be open'),
  maxConnections: Count(16_384, 'How many connections may be open'),
  maxConnectionsPerAddress: Count(16_384, 'How many of them may come from one address'),
  maxHeaders: Count(200, 'How many headers a request may have'),
  headersTimeout: Milliseconds(10_000, 'How long a client may take to send the headers of a request'),
  requestTimeout: Milliseconds(30_000, 'How long a client may take to send a whole request'),
  maxFragments: Count(256, 'How many frames a WebSocket message may be cut into'),
  assemblyTimeout: Milliseconds(10_000, 'How long a client may take to send a whole WebSocket message'),
  maxPings: Count(100, 'How many pings and pongs a WebSocket client may send in a second'),
  maxEventLoopDelay: Milliseconds(1_000, 'From which delay of the event loop on new calls are refused, when it lasts'),
  maxHeap: Type.Optional(Type.Integer({ minimum: 1, description: 'From how many bytes of heap on new calls are refused; nine tenths of what Node.js may use when not set' })),
  maxRss: Type.Optional(Type.Integer({ minimum: 1, description: 'From how many bytes of memory of the process on new calls are refused; eight tenths of what there is when not set' })),
  maxQueue: Count(1024 * 1024, 'From how many waiting bytes on a client has to read'),
  maxQueued: Count(64 * 1024 * 1024, 'How many bytes may wait for all clients together that do not read; beyond, those that do not keep up with notifications are cut'),
  writeDeadline: Milliseconds(10_000, 'After which time a client that reads nothing of them is cut'),
  maxSessions: Count(10_000, 'How many HTTP sessions may exist'),
  maxSessionsPerPrincipal: Count(1_000, 'How many of them may belong to one caller who has said who it is'),
  sessionIdle: Milliseconds(30 * 60_000, 'After which time an unused session ends'),
  callTimeout: Milliseconds(60_000, 'After which time a call without a sign of life is given up'),
  callTimeoutMax: Milliseconds(600_000, 'After which time a call is given up in any case'),
  grace: Milliseconds(10_000, 'How long calls may take to finish at shutdown'),
  keepAlive: Milliseconds(15_000, 'How often an event stream gets a sign of life'),
  heartbeat: Milliseconds(30_000, 'How often a WebSocket is pinged')
}, { additionalProperties: false })

export type Options = Static<typeof Options>

const check = compile(Options)

/** Checks and completes what was given. Throws one sentence that names the option and what was expected. */
export function resolveOptions (given: Partial<Options>): Options {
  const complete = { ...defaults(), ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
  const wrong = check(complete)
  if (wrong !== undefined) throw new Error(`option ${inWords(wrong)}`)
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

function inWords (wrong: string): string {
  const name = wrong.split(/[ .;]/)[0] as keyof typeof Options.properties
  const expected: unknown = Options.properties[name]?.['x-expected']
  if (typeof expected === 'string') return `${name} ${expected}`
  return wrong.replace(/^it must NOT have additional properties: "(.*)"$/, '"$1" does not exist')
}

function defaults (): Record<string, unknown> {
  const entries = Object.entries(Options.properties).filter(([, schema]) => 'default' in schema)
  return Object.fromEntries(entries.map(([name, schema]) => [name, structuredClone(schema.default)]))
}

/** How callers say who they are, and what those are told who do not. */
export function authentication ({ prefix }: { prefix: string }, { name, apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials }: Options) {
  const metadata = oauth === undefined ? undefined : metadataUrl(oauth.resource, prefix)
  return { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, scopes: oauth?.scopes ?? BASIC, challenger: { realm: name, metadata } }
}
