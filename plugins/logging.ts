import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Middleware } from '../protocol/dispatcher.js'
import { LEVELS, type LogLevel } from '../protocol/log-level.js'

// `warn` is what some clients say.
const SetLevel = Type.Object({ level: Type.Unsafe<LogLevel | 'warn'>({ type: 'string', enum: [...LEVELS, 'warn'] }) })

// Never fatal: pino writes that level synchronously, and for ever if nobody reads standard error any more.
const PINO_LEVEL = {
  debug: 'debug', info: 'info', notice: 'info', warning: 'warn', error: 'error', critical: 'error', alert: 'error', emergency: 'error'
} as const

/** What calls log goes to the client at the level it asked for, and to pino on this side. */
export default fp(async fastify => {
  const { mcp } = fastify

  mcp.capability('logging', () => ({}))

  mcp.method('logging/setLevel', SetLevel, ({ level }, { peer }) => {
    peer.logLevel = level === 'warn' ? 'warning' : level
    peer.changed = true
    return {}
  })

  const traced: Middleware = async (call, next) => {
    const start = performance.now()
    const line = { method: call.method, of: call.params.name ?? call.params.uri, id: call.id, transport: call.peer.transport, revision: call.revision.version }
    fastify.log.debug(line, 'request')
    try {
      const result = await next()
      fastify.log.debug({ ...line, ms: performance.now() - start, isError: 'isError' in result && result.isError === true }, 'response')
      return result
    } catch (error) {
      fastify.log.debug({ ...line, ms: performance.now() - start, err: error }, 'response')
      throw error
    }
  }

  // Who asked what and how it went, never with what: contents are nobody's business but the caller's.
  if (/^(debug|trace)$/.test(fastify.log.level)) mcp.use(traced)

  mcp.onLog((level, data, call) => {
    const fields = { method: call?.method, of: call?.params.name ?? call?.params.uri, id: call?.id, ...(data instanceof Error ? { err: data } : typeof data === 'object' ? data : { data }) }
    fastify.log[PINO_LEVEL[level]](fields, call === undefined ? 'mcp' : `log of ${call.method}`)
  })
}, { name: 'logging', dependencies: ['mcp'] })
