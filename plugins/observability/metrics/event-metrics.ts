import type { FastifyInstance } from 'fastify'
import { now } from '../../../lib/time.js'
import type { Peer } from '../../../protocol/peer/peer.js'
import { isFinal, type TaskRecord } from '../../../protocol/tasks/task-record.js'
import { isMcpError } from '../../../protocol/wire/errors.js'
import { OPERATION_BOUNDS, SESSION_BOUNDS, WAIT_BOUNDS } from './bounds.js'
import { OTHER, failureOf, isTimeout, subjectOf } from '../../../protocol/dispatch/call-facts.js'
import { codeLabel } from './call-metrics.js'
import { Counter, Histogram, type Metric } from './series.js'

type Mcp = FastifyInstance['mcp']

/** Counts what happens besides calls: refusals, cut clients, ended sessions, questions to clients, resumed streams. */
export function eventMetrics ({
  onRefusal,
  dispatcher: { observers, backlogs }
}: Pick<Mcp, 'onRefusal' | 'dispatcher'>): { metrics: Metric[], stop: () => void } {
  const refused = new Counter('patchbay_refused_total', 'Messages, requests and connections that were refused.', [
    'reason',
    'status'
  ])
  const cut = new Counter('patchbay_cut_total', 'Clients that were disconnected because they did not read or answer.', [
    'reason'
  ])
  const sessions = new Histogram(
    'mcp_server_session_duration_seconds',
    'How long sessions and connections with a handshake lasted.',
    ['revision'],
    SESSION_BOUNDS
  )
  const questions = new Counter('patchbay_questions_total', 'Questions to clients.', ['method', 'outcome'])
  const waits = new Histogram(
    'patchbay_questions_wait_seconds',
    'How long calls waited for answers of clients.',
    ['method', 'outcome'],
    WAIT_BOUNDS
  )
  const resumes = new Counter('patchbay_resume_total', 'Attempts of clients to resume a stream.', ['outcome'])
  const early = new Counter('patchbay_early_answers_total', 'Calls that were answered before they ended.', ['tool'])
  const created = new Counter('patchbay_tasks_created_total', 'Tasks that were created at this node.', ['kind'])
  const ended = new Counter('patchbay_tasks_ended_total', 'Tasks that this node has ended.', ['kind', 'outcome'])
  // There from the start, so that their first increase is seen.
  for (const outcome of ['ok', 'gone', 'exhausted']) resumes.with(outcome)
  const endSession = ({ conversation: { openedAt }, revision }: Peer): void => {
    if (openedAt !== undefined) sessions.with(revision?.version).observe((now() - openedAt) / 1_000)
  }
  const offs = [
    onRefusal(({ reason, status }) => refused.with(reason, status === undefined ? undefined : String(status)).add()),
    backlogs.cuts.add(reason => cut.with(reason).add()),
    observers.disconnect.add(endSession),
    observers.reinitialize.add(endSession),
    observers.question.add(({ method, outcome, ms }) => {
      questions.with(method, outcome).add()
      if (outcome !== 'deferred') waits.with(method, outcome).observe(ms / 1_000)
    }),
    observers.earlyAnswer.add(call => early.with(subjectOf(call).tool ?? OTHER).add()),
    observers.task.add(task => {
      if (isFinal(task)) ended.with(task.kind, outcomeOf(task)).add()
      else created.with(task.kind).add()
    }),
    observers.resume.add(outcome => resumes.with(outcome).add())
  ]
  return {
    metrics: [refused, cut, sessions, questions, waits, early, created, ended, resumes],
    stop: () => {
      for (const off of offs) off()
    }
  }
}

/** The state in which a task ended; `error` where it is completed with a result that reports a failure. */
const outcomeOf = ({ status, isError }: TaskRecord): string => isError === true ? 'error' : status

/** Lasts as long as its connection, or until something else is listened to. */
const LISTEN = 'subscriptions/listen'

/**
 * Times the requests to upstream servers. `unreached` has the entries of those that did not answer the latest of them:
 * a server behind a URL may have no connection that breaks. A reload that changes a server makes a new entry.
 */
export function upstreamRequestMetrics ({ dispatcher: { observers } }: Pick<Mcp, 'dispatcher'>): {
  metrics: Metric[]
  unreached: Pick<WeakSet<object>, 'has'>
  stop: () => void
} {
  const unreached = new WeakSet<object>()
  const operations = new Histogram(
    'mcp_client_operation_duration_seconds',
    'How long requests to upstream servers took.',
    ['mcp_method_name', 'error_type'],
    OPERATION_BOUNDS
  )
  const durations = new Histogram(
    'patchbay_upstream_call_duration_seconds',
    'How long requests to each upstream server took, without those that stay open.',
    ['upstream'],
    OPERATION_BOUNDS
  )
  const stop = observers.upstreamRequest.add(({ upstream, server, method, ms, failed, error }) => {
    const failure = failureOf(error)
    operations
      .with(
        method,
        failure === undefined
          ? failed
            ? 'tool_error'
            : undefined
          : isMcpError(failure)
            ? codeLabel(failure.code)
            : OTHER
      )
      .observe(ms / 1_000)
    if (method === LISTEN) return
    durations.with(upstream).observe(ms / 1_000)
    if (isUnanswered(failure, upstream)) unreached.add(server)
    else if (error === undefined || isMcpError(error)) unreached.delete(server)
  })
  return { metrics: [operations, durations], unreached, stop }
}

/** True for a request that got no answer, or none that can be used. */
const isUnanswered = (failure: unknown, upstream: string): boolean =>
  isTimeout(failure) || (isMcpError(failure) && (Object(failure.data) as { upstream?: unknown }).upstream === upstream)
