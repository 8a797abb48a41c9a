import { Type, type Static } from '@sinclair/typebox'
import { versions } from '../protocol/revisions/table.js'
import { Count, Milliseconds } from './numbers.js'

const Value = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'], 'x-expected': 'must be a string' })
const Values = (description: string) => Type.Optional(Type.Record(Type.String(), Value, { 'x-expected': 'must be an object with a string for each name', description }))
const Names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { 'x-expected': 'must be a list of strings', description }))
const Path = (description: string) => Type.Optional(Type.String({ minLength: 1, 'x-expected': 'must be a path', description }))
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const Time = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, 'x-expected': 'must be a whole number of milliseconds', description }))
const Choice = <const T extends string>(words: readonly T[], description: string) =>
  Type.Optional(Type.Unsafe<T>({ type: 'string', enum: words, 'x-expected': `must be one of ${words.join(', ')}`, description }))

const SCHEMA_FORMS = ['safe', 'as-is'] as const

/** One server of `mcpServers`, in the form that most clients use. Other spellings of these fields are understood, too. */
export const Server = Type.Object({
  command: Type.Optional(Type.String({ minLength: 1, description: 'The program that is started and spoken to over standard input and output' })),
  args: Type.Optional(Type.Array(Value, { 'x-expected': 'must be a list of strings', description: 'The arguments of the program' })),
  env: Values('Environment variables of the program, besides a few of the gateway such as PATH and HOME'),
  envFile: Path('A file with more environment variables, one NAME=value on each line; `env` overrides it'),
  cwd: Path('The working directory of the program; without it the folder of the file that names the server'),
  type: Type.Optional(Type.String({ examples: ['stdio', 'http', 'sse', 'websocket'], description: 'How the server is reached. Without it, a `url` is tried as Streamable HTTP, then as HTTP+SSE' })),
  url: Type.Optional(Type.String({ minLength: 1, description: 'The URL of a server that runs already' })),
  headers: Values('HTTP headers for the server, such as Authorization'),
  disabled: Flag('Do not use this server'),
  timeout: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 2 ** 31 - 1, 'x-expected': 'must be a number of milliseconds', description: 'How long a call may run without progress, in milliseconds; a number below 1000 is taken as seconds' })),
  startTimeout: Time('How long the server may take to start, in milliseconds'),
  includeTools: Names('The tools that are served, as names or globs; all without it'),
  excludeTools: Names('The tools that are not served, as names or globs'),
  prefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{0,32}$', 'x-expected': 'must be up to 32 letters, digits, _ and -', description: 'What is put before the names of its tools and prompts, in place of the name of the server and __' })),
  start: Choice(['eager', 'lazy'], 'Whether the server is started with the gateway or at the first call'),
  idle: Time('After how many milliseconds without a call the server is stopped'),
  isolate: Choice(['none', 'principal', 'session'], 'Which callers share one process or connection: all, those with the same identity, or those of one session'),
  schemas: Choice(SCHEMA_FORMS, 'How its tools, prompts and resources are listed, in place of the option `schemas`'),
  revision: Choice(versions, 'The version of MCP that the server is spoken to in; without it, that is found out'),
  scopes: Names('The scopes that a caller needs for everything the server offers'),
  roots: Names('The folders that a server of an older revision gets when it asks for roots'),
  elicitation: Flag('Whether the server may ask callers for input'),
  sampling: Flag('Whether the server may ask the models of callers')
}, { additionalProperties: true })

export type Server = Static<typeof Server>

/** Other MCP servers behind the gateway. */
export const upstreams = {
  mcpServers: Type.Record(Type.String(), Server, {
    default: {},
    examples: [{ files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } }],
    description: 'Other MCP servers that this gateway serves, by name, in the form that clients use: `command`, `args`, `env`, or `url`, `headers`; [Upstream servers](upstreams.md) has all fields'
  }),
  mcpConfig: Type.Array(Type.String({ minLength: 1 }), { default: [], description: 'Configuration files of MCP clients whose servers are served, too' }),
  schemas: Type.Unsafe<typeof SCHEMA_FORMS[number]>({
    type: 'string', enum: SCHEMA_FORMS, default: 'safe', 'x-expected': `must be one of ${SCHEMA_FORMS.join(', ')}`, description: 'How what upstream servers offer is listed: `safe` repairs what some clients refuse, `as-is` changes nothing. A server may have its own'
  }),
  maxMcpConfig: Count(16 * 1024 * 1024, 'The largest configuration file of a client, and the largest file that one refers to, in bytes'),
  upstreamProbeWait: Milliseconds(3_000, 'How long a server may take to answer `server/discover` before it gets `initialize`, too, which servers of older revisions need; a program that has written nothing at all yet gets more time. Only servers that leave a method they do not know without an answer make this wait matter, and once: what was found is remembered'),
  maxUpstreamConnections: Count(64, 'The most processes or connections of one server with `isolate`, besides the shared one'),
  upstreamIdle: Milliseconds(300_000, 'How long such a process or connection lives without a call, unless `idle` of the server says otherwise'),
  maxUpstreamQuestions: Count(64, 'The most questions to clients that one server may have open'),
  maxUpstreamRounds: Count(10, 'How often a server without a handshake may ask a client with one during one call'),
  parkedCallLifetime: Milliseconds(300_000, 'How long a call to a server waits for answers of a client that has to send its request again with them'),
  maxParkedCalls: Count(1_024, 'The most calls to all servers that wait for such answers'),
  maxParkedCallsPerUpstream: Count(256, 'The most calls to one server that wait for such answers'),
  maxParkedCallsPerCaller: Count(64, 'The most calls of one caller that wait for such answers'),
  maxParkedBytes: Count(16 * 1024 * 1024, 'The most bytes of questions, progress and results of one server that are kept for such calls'),
  maxUpstreamMessage: Count(16 * 1024 * 1024, 'The largest message of an upstream server, in bytes'),
  maxUpstreamBytes: Count(32 * 1024 * 1024, 'The most bytes of replies of upstream servers that are being received for one caller; more are read later'),
  maxAllUpstreamBytes: Count(128 * 1024 * 1024, 'The same for all callers together, with what waits for clients that do not read'),
  maxUpstreamValues: Count(100_000, 'The most values in a message of an upstream server that is no list'),
  maxUpstreamListValues: Count(1_000_000, 'The most values in one page of a list of an upstream server'),
  maxUpstreamQueue: Count(4 * 1024 * 1024, 'The most bytes queued for an upstream server that does not read them'),
  maxUpstreamUnasked: Count(20_000, 'The most messages of an upstream server in a second that answer nothing, such as notifications; more are read later. A line that is no message counts as four, and so do 4 KiB; of blank lines and of the lines of an event, 32 count as one'),
  maxUpstreamSockets: Count(512, 'The most HTTP connections to an upstream server for calls; further calls wait for one'),
  maxUpstreamErrorOutput: Count(64 * 1024, 'How many bytes are kept of what an upstream server writes to standard error'),
  upstreamStartTimeout: Milliseconds(180_000, 'How long an upstream server may take to start'),
  upstreamStopTimeout: Milliseconds(2_000, 'How long an upstream server may take to end after its standard input was closed, and again after SIGTERM; then it is killed'),
  upstreamQuickStopTimeout: Milliseconds(300, 'The same at the end of a gateway with `stdio`: clients kill a program soon after they have closed its standard input'),
  upstreamRestartDelay: Milliseconds(500, 'The delay before an upstream server that ended is started again. It doubles with each failure'),
  upstreamRestartDelayMax: Milliseconds(30_000, 'The longest delay before an upstream server is started again'),
  maxUpstreamFailures: Count(5, 'After how many failures within a minute an upstream server is not started again until a call or a reload asks for it'),
  maxUpstreamStarts: Count(4, 'The most upstream servers that are started at the same time, unless a call waits for them'),
  upstreamProxies: Type.Boolean({ default: false, description: 'Pass HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, which may have passwords, to the upstream servers that are started' }),
  maxUpstreamPages: Count(1_000, 'The most pages that are read of one list of an upstream'),
  maxUpstreamEntries: Count(10_000, 'The most tools, prompts or resources of one upstream'),
  maxUpstreamTemplates: Count(256, 'The most resource templates of one upstream: a URI that is read is compared with each of them'),
  maxUpstreamEntry: Count(256 * 1024, 'The longest definition of one tool, prompt, resource or template of an upstream, in characters of JSON'),
  maxUpstreamEntryValues: Count(20_000, 'The most values in one such definition: list elements and object members together'),
  maxUpstreamList: Count(16 * 1024 * 1024, 'The longest list of an upstream, in characters of JSON'),
  maxUpstreamInstructions: Count(8_192, 'The longest instructions of one upstream, in characters; the rest is cut off'),
  maxUpstreamLinks: Count(1_000, 'The most links in results of upstreams that are remembered for one caller, and the most callers'),
  upstreamListWait: Milliseconds(5_000, 'How long `initialize`, `server/discover` and lists wait for an upstream server of which nothing is known yet, from its first start on, and at most half of `callTimeout`. A list without it says `ttlMs: 0`'),
  upstreamListDelay: Milliseconds(200, 'How long a list of an upstream that was just read is left alone before it is read again')
}
