import { Type, type Static } from '@sinclair/typebox'
import { Count, Milliseconds } from './numbers.js'
import { upstreamLimits } from './upstream-limits.js'

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
  maxConnections: Count(16_384, 'The most connections open at once'),
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

const sessions = {
  maxSessions: Count(10_000, 'The most HTTP sessions of this node'),
  maxSessionsPerPrincipal: Count(1_000, 'The most HTTP sessions of one authenticated caller, at all nodes together')
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
  maxResultBytes: Count(32 * 1024 * 1024, 'The most bytes of long results, and of tasks, that are kept for one caller'),
  maxAllResultBytes: Count(128 * 1024 * 1024, 'The same for all callers together')
}

const tasks = {
  maxTasks: Count(10_000, 'The most tasks at all nodes together, those that have ended included, until they expire'),
  maxTasksPerPrincipal: Count(1_000, 'The most tasks of one caller; those without a name count as one'),
  taskTtl: Milliseconds(3_600_000, 'For how long a task is kept after its creation, unless its client says'),
  maxTaskTtl: Milliseconds(86_400_000, 'The longest time that a client may ask for'),
  taskRetention: Milliseconds(300_000, 'For how long a task is kept after its end, however long it took'),
  maxTaskResult: Count(4 * 1024 * 1024, 'The longest result of a task, in characters of JSON')
}

const approvals = {
  maxApprovals: Count(1_000, 'The most calls that wait for an operator, at all nodes together'),
  maxApprovalsPerCaller: Count(16, 'The most calls of one caller that wait for an operator'),
  maxApprovalText: Count(16_384, 'The most characters that a person is shown of a call before it is allowed')
}

const builtIns = {
  searchTimeout: Milliseconds(10_000, 'How long a web search may take'),
  maxNotes: Count(10_000, 'The most notes of one caller'),
  maxNote: Count(65_536, 'The longest note, in characters'),
  maxFile: Count(2 * 1024 * 1024, 'The largest file that can be read, in bytes')
}

/** Bounds that protect the process, and that few have to change: the members of the option `limits`. */
export const Limits = Type.Object(
  {
    ...messages,
    ...calls,
    ...connections,
    ...sessions,
    ...subscriptions,
    ...access,
    ...results,
    ...tasks,
    ...approvals,
    ...builtIns,
    ...upstreamLimits
  },
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
