import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { now } from '../../lib/time.js'
import type { CallOutcome } from '../../protocol/dispatch/call-response.js'
import { isFault } from '../../protocol/dispatch/observed/observers.js'
import { isObject } from '../../protocol/wire/json.js'
import { LEVELS, type LogLevel } from '../../protocol/wire/log-level.js'
import { logSentence } from './logging/log-sentence.js'

// Some clients send `warn`.
const SetLevel = Type.Object({ level: Type.Unsafe<LogLevel | 'warn'>({ type: 'string', enum: [...LEVELS, 'warn'] }) })

// Never fatal: pino writes that level synchronously, and blocks when standard error is not read.
const PINO_LEVEL = {
  debug: 'debug', info: 'info', notice: 'info', warning: 'warn', error: 'error', critical: 'error', alert: 'error', emergency: 'error'
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
    mcp.onEnd((call, ended) => fastify.log.debug({ ...lineOf(call), ms: now() - call.response.startedAt, ...inWords(ended) }, 'response'))
  }

  mcp.onLog((level, data, call) => {
    const fields = call === undefined ? {} : { method: call.method, ...call.target?.auditSubject, id: call.id }
    fastify.log[PINO_LEVEL[level]]({ ...fields, ...toFields(data) }, logSentence(data, call))
  })
}, { name: 'patchbay-logging', dependencies: ['patchbay-mcp'] })

// A handler may log the arguments of a stranger, so their members must not become fields of the line, such as `time` or `audit`.
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
  return outcome === 'error' ? { err: { code, message } } : { isError: outcome === 'failed' }
}
