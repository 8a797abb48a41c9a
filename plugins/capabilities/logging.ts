import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { describeThrown, oneLine } from '../../lib/one-line.js'
import { now } from '../../lib/time.js'
import type { CallOutcome } from '../../protocol/dispatch/call-response.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { isFault } from '../../protocol/dispatch/observers.js'
import { isObject } from '../../protocol/wire/json.js'
import { LEVELS, type LogLevel } from '../../protocol/wire/log-level.js'

// Some clients send `warn`.
const SetLevel = Type.Object({ level: Type.Unsafe<LogLevel | 'warn'>({ type: 'string', enum: [...LEVELS, 'warn'] }) })

// Never fatal: pino writes that level synchronously, and blocks when standard error is not read.
const PINO_LEVEL = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error'
} as const

/** Log messages of calls go to the client at the level it asked for, and to the application's logger. */
export default fp(async fastify => {
  const { mcp, mcp: { dispatcher } } = fastify

  dispatcher.capabilities.declare('logging', () => ({}))

  mcp.method('logging/setLevel', SetLevel, ({ level }, { peer, conversation }) => {
    // A request that waited while the client sent initialize again does not concern the new conversation.
    if (conversation.replaced) return {}
    peer.logLevel = level === 'warn' ? 'warning' : level
    peer.dirty = true
    return {}
  }, { scopes: [] })

  // Method, target and outcome of each request, never its arguments or result.
  if (/^(debug|trace)$/.test(fastify.log.level)) {
    mcp.onBegin(call => fastify.log.debug(lineOf(call), 'request'))
    mcp.onEnd((call, ended) =>
      fastify.log.debug({ ...lineOf(call), ms: now() - call.response.startedAt, ...inWords(ended) }, 'response')
    )
  }

  mcp.onLog((level, data, call) => {
    const fields = call === undefined ? {} : { method: call.method, ...call.target?.auditSubject, id: call.id }
    fastify.log[PINO_LEVEL[level]]({ ...fields, ...toFields(data) }, logSentence(data, call))
  })
}, { name: 'patchbay-logging', dependencies: ['patchbay-mcp'] })

// A handler may log the arguments of a stranger, so their members must not become fields of the line, such as `time` or
// `audit`.
function toFields (data: unknown): object {
  if (isFault(data)) return data
  if (data instanceof Error) return { err: data }
  return isObject(data) && data.err instanceof Error ? { err: data.err, data: { ...data, err: undefined } } : { data }
}

function lineOf ({ id, method, params, peer, revision }: Call): object {
  return { method, of: params.name ?? params.uri, id, transport: peer.transport, revision: revision.version }
}

function inWords ({ outcome, code, message }: CallOutcome): object {
  if (outcome === 'cancelled') return { cancelled: true }
  if (outcome === 'error') return { err: { code, message: message?.replace(/\S+/g, withoutQuery) } }
  return { isError: outcome === 'failed' }
}

/** A link that is for its caller alone, such as that of a sign-in, has its secret in the query. */
const withoutQuery = (word: string): string =>
  /^https?:\/\//.test(word) ? word.replace(/[?#].*$/, '?…') : word

const [MAX_SENTENCE, MAX_ERROR, MAX_ID] = [600, 400, 64]

/**
 * The sentence for what a call logged or for an error that no handler foresaw: `tools/call divide failed: TypeError: x
 * is not a function (correlation ...)`.
 */
function logSentence (data: unknown, call: Call | undefined): string {
  const what = call === undefined ? undefined : nameOf(call)
  if (isFault(data)) {
    if (data.correlation !== undefined) {
      return `${describeFailure(what ?? 'a request', data.err)} (correlation ${oneLine(data.correlation, MAX_ID)})`
    }
    if (data.listener !== undefined) return describeFailure(`a listener of ${data.listener}`, data.err)
    if (data.notification !== undefined) return describeFailure(data.notification, data.err)
  }
  return oneLine(what === undefined ? 'log outside a call' : `log of ${what}`, MAX_SENTENCE)
}

function nameOf ({ method, target }: Call): string {
  const { tool, resource, prompt }: Partial<Record<'tool' | 'resource' | 'prompt', string>> = target?.auditSubject ?? {}
  const name = tool ?? resource ?? prompt
  return name === undefined ? method : `${method} ${name}`
}

const describeFailure = (what: string, error: unknown): string =>
  oneLine(`${what} failed: ${describeThrown(error, MAX_ERROR)}`, MAX_SENTENCE)
