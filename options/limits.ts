import { Type, type Static } from '@sinclair/typebox'
import { Count, Milliseconds } from './numbers.js'

/** Bounds that an operator sets to fit a machine and its clients. */
export const bounds = {
  maxMessage: Count(4 * 1024 * 1024, 'The largest message, in bytes'),
  pageSize: Count(
    1_000,
    'The number of entries on a page of a list; a page ends earlier where its entries take 4 MiB'
  ),
  callTimeout: Milliseconds(60_000, 'How long a call may run without reporting progress or waiting for the client'),
  callTimeoutMax: Milliseconds(600_000, 'How long a call may run in all'),
  drainDelay: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 600_000,
    description:
      'For how many milliseconds the gateway goes on accepting calls after a signal to end, while `/readyz` and `/health` say that it is not ready: a load balancer stops sending them meanwhile'
  }),
  grace: Milliseconds(10_000, 'How long calls in flight may take to finish at shutdown'),
  maxConnections: Count(16_384, 'The most connections open at once'),
  maxSessions: Count(10_000, 'The most HTTP sessions of this node'),
  maxSessionsPerPrincipal: Count(1_000, 'The most HTTP sessions of one authenticated caller, at all nodes together'),
  sessionIdle: Milliseconds(30 * 60_000, 'How long a session lives without a request or an open stream')
}

const messages = {
  maxDepth: Count(64, 'The deepest nesting of a message'),
  maxKeys: Count(10_000, 'The most object members in a message'),
  maxValues: Count(100_000, 'The most values in a message: list elements and object members together'),
  maxId: Count(1_024, 'The longest request id and the longest progress token, in characters'),
  maxUri: Count(2_048, 'The longest URI, in characters'),
  maxBatch: Count(100, 'The most messages in a batch'),
  maxCapabilities: Count(65_536, 'The longest `capabilities` of a client, in characters of JSON')
}

const calls = {
  maxInFlight: Count(1_024, 'The most calls in flight on one connection or session'),
  maxBytesInFlight: Count(
    32 * 1024 * 1024,
    'The most bytes that the calls in flight of one connection or session may hold'
  ),
  maxAllBytesInFlight: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The most bytes that all calls in flight and all messages being received may hold together. Default: an eighth of the heap that Node.js may use'
    })
  ),
  maxEventLoopDelay: Milliseconds(1_000, 'The event loop delay above which new calls are refused, if it lasts'),
  maxHeap: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The heap size above which new calls are refused, in bytes. Default: nine tenths of the heap that Node.js may use'
    })
  ),
  maxRss: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'The resident memory above which new calls are refused, in bytes. Default: eight tenths of the memory available'
    })
  )
}

const connections = {
  maxConnectionsPerAddress: Count(16_384, 'The most connections open at once from one address'),
  maxHeaders: Count(200, 'The most headers of an HTTP request'),
  headersTimeout: Milliseconds(10_000, 'How long a client may take to send the headers of an HTTP request'),
  requestTimeout: Milliseconds(30_000, 'How long a client may take to send a whole HTTP request'),
  maxPipelined: Count(64, 'The most HTTP requests that wait for their reply on one connection'),
  maxFragments: Count(256, 'The most frames of one WebSocket message'),
  assemblyTimeout: Milliseconds(10_000, 'How long a client may take to send a whole WebSocket message'),
  maxPings: Count(100, 'The most pings and pongs of a WebSocket client, or of an upstream server, in a second'),
  heartbeat: Milliseconds(30_000, 'The interval between pings to a WebSocket client'),
  keepAlive: Milliseconds(15_000, 'The interval between keep-alive comments on an event stream'),
  maxStreams: Count(16_384, 'The most event streams open at once'),
  maxQueue: Count(
    1024 * 1024,
    'The most bytes queued for one client before it must read some of them within `writeDeadline`'
  ),
  maxQueued: Count(
    64 * 1024 * 1024,
    'The most bytes queued for all clients that are behind; above it, such a client is disconnected at its next notification'
  ),
  writeDeadline: Milliseconds(10_000, 'How long a client with a full queue may read nothing before it is disconnected')
}

const subscriptions = {
  maxSubscriptions: Count(1_024, 'The most resources that one client may subscribe to'),
  maxSubscriptionText: Count(65_536, 'The most characters in all subscribed URIs of one client together')
}

const access = {
  ticketLifetime: Milliseconds(30_000, 'How long a ticket is valid'),
  maxWrongCredentials: Count(
    60,
    'The most wrong credentials from one address in a minute; more are answered with 429. Valid credentials are always accepted'
  )
}

const results = {
  maxResultBytes: Count(32 * 1024 * 1024, 'The most bytes of long results that are kept for one caller'),
  maxAllResultBytes: Count(128 * 1024 * 1024, 'The same for all callers together')
}

const builtIns = {
  searchTimeout: Milliseconds(10_000, 'How long a web search may take'),
  maxNotes: Count(10_000, 'The most notes of one caller'),
  maxNote: Count(65_536, 'The longest note, in characters'),
  maxFile: Count(2 * 1024 * 1024, 'The largest file that can be read, in bytes')
}

const upstreams = {
  maxMcpConfig: Count(
    16 * 1024 * 1024,
    'The largest configuration file of a client, and the largest file that one refers to, in bytes'
  ),
  upstreamProbeWait: Milliseconds(
    3_000,
    'How long a server may take to answer `server/discover` before it gets `initialize`, too, which servers of older revisions need; a program that has written nothing at all yet gets more time. Only servers that leave a method they do not know without an answer make this wait matter, and once: what was found is remembered'
  ),
  maxUpstreamConnections: Count(
    64,
    'The most processes or connections of one server with `isolate`, besides the shared one'
  ),
  upstreamIdle: Milliseconds(
    300_000,
    'How long such a process or connection lives without a call, unless `idle` of the server says otherwise'
  ),
  maxUpstreamQuestions: Count(64, 'The most questions to clients that one server may have open'),
  maxUpstreamRounds: Count(10, 'How often a server without a handshake may ask a client with one during one call'),
  parkedCallLifetime: Milliseconds(
    300_000,
    'How long a call to a server waits for answers of a client that has to send its request again with them'
  ),
  maxParkedCalls: Count(1_024, 'The most calls to all servers that wait for such answers'),
  maxParkedCallsPerUpstream: Count(256, 'The most calls to one server that wait for such answers'),
  maxParkedCallsPerCaller: Count(64, 'The most calls of one caller that wait for such answers'),
  maxParkedBytes: Count(
    16 * 1024 * 1024,
    'The most bytes of questions, progress and results of one server that are kept for such calls'
  ),
  maxUpstreamMessage: Count(16 * 1024 * 1024, 'The largest message of an upstream server, in bytes'),
  maxUpstreamBytes: Count(
    32 * 1024 * 1024,
    'The most bytes of replies of upstream servers that are being received for one caller; more are read later'
  ),
  maxAllUpstreamBytes: Count(
    128 * 1024 * 1024,
    'The same for all callers together, with what waits for clients that do not read'
  ),
  maxUpstreamValues: Count(100_000, 'The most values in a message of an upstream server that is no list'),
  maxUpstreamListValues: Count(1_000_000, 'The most values in one page of a list of an upstream server'),
  maxUpstreamQueue: Count(4 * 1024 * 1024, 'The most bytes queued for an upstream server that does not read them'),
  maxUpstreamUnasked: Count(
    20_000,
    'The most messages of an upstream server in a second that answer nothing, such as notifications; more are read later. A line that is no message counts as four, and so do 4 KiB; of blank lines and of the lines of an event, 32 count as one'
  ),
  maxUpstreamSockets: Count(
    512,
    'The most HTTP connections to an upstream server for calls; further calls wait for one'
  ),
  maxUpstreamErrorOutput: Count(
    64 * 1024,
    'How many bytes are kept of what an upstream server writes to standard error'
  ),
  upstreamStopTimeout: Milliseconds(
    2_000,
    'How long an upstream server may take to end after its standard input was closed, and again after SIGTERM; then it is killed'
  ),
  upstreamQuickStopTimeout: Milliseconds(
    300,
    'The same at the end of a gateway with `stdio`: clients kill a program soon after they have closed its standard input'
  ),
  upstreamRestartDelay: Milliseconds(
    500,
    'The delay before an upstream server that ended is started again. It doubles with each failure'
  ),
  upstreamRestartDelayMax: Milliseconds(30_000, 'The longest delay before an upstream server is started again'),
  maxUpstreamFailures: Count(
    5,
    'After how many failures within a minute an upstream server is not started again until a call or a reload asks for it'
  ),
  maxUpstreamStarts: Count(
    4,
    'The most upstream servers that are started at the same time, unless a call waits for them'
  ),
  maxUpstreamPages: Count(1_000, 'The most pages that are read of one list of an upstream'),
  maxUpstreamEntries: Count(10_000, 'The most tools, prompts or resources of one upstream'),
  maxUpstreamTemplates: Count(
    256,
    'The most resource templates of one upstream: a URI that is read is compared with each of them'
  ),
  maxUpstreamEntry: Count(
    256 * 1024,
    'The longest definition of one tool, prompt, resource or template of an upstream, in characters of JSON'
  ),
  maxUpstreamEntryValues: Count(
    20_000,
    'The most values in one such definition: list elements and object members together'
  ),
  maxUpstreamList: Count(16 * 1024 * 1024, 'The longest list of an upstream, in characters of JSON'),
  maxUpstreamInstructions: Count(
    8_192,
    'The longest instructions of one upstream, in characters; the rest is cut off'
  ),
  maxUpstreamLinks: Count(
    1_000,
    'The most links in results of upstreams that are remembered for one caller, and the most callers'
  ),
  upstreamListDelay: Milliseconds(
    200,
    'How long a list of an upstream that was just read is left alone before it is read again'
  )
}

/** Bounds that protect the process, and that few have to change: the members of the option `limits`. */
export const Limits = Type.Object(
  { ...messages, ...calls, ...connections, ...subscriptions, ...access, ...results, ...builtIns, ...upstreams },
  { additionalProperties: false }
)

export type Limits = Static<typeof Limits>

export const limits = {
  limits: Type.Partial(Limits, {
    default: {},
    examples: [{ maxDepth: 32, maxUpstreamEntries: 500 }],
    description:
      'Bounds that protect the gateway, by name; [Limits](limits.md) has all of them. As environment variable `maxDepth=32,maxUpstreamEntries=500`, on the command line `--limit maxDepth=32`'
  })
}
