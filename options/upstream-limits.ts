import { Count, Milliseconds } from './numbers.js'

/** Limits of servers behind the gateway: their processes, connections, messages, lists and questions. */
export const upstreamLimits = {
  maxMcpConfig: Count(
    16 * 1024 * 1024,
    'The largest configuration file of a client, and the largest file that one refers to, in bytes'
  ),
  upstreamStartTimeout: Milliseconds(180_000, 'How long an upstream server may take to start'),
  upstreamListWait: Milliseconds(
    5_000,
    'How long `initialize`, `server/discover` and lists wait for an upstream server of which nothing is known yet, from its first start on, and at most half of `callTimeout`. A list without it says `ttlMs: 0`'
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
  maxUpstreamMessage: Count(16 * 1024 * 1024, 'The largest message of an upstream server, and the longest reply of a route that is a tool, in bytes'),
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
  maxApiDocument: Count(16 * 1024 * 1024, 'The largest OpenAPI document, in bytes'),
  maxApiSchema: Count(
    32 * 1024,
    'The longest schema of the arguments of an operation of an OpenAPI document, in characters of JSON; what is farthest from its root is cut off'
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
