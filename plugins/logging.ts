import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Channel } from '../protocol/channel.js'
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

  // Who asked what and how it went, never with what: contents are nobody's business but the caller's.
  if (/^(debug|trace)$/.test(fastify.log.level)) {
    mcp.onMessage((incoming, { transport, revision }, channel) => {
      if (incoming.kind !== 'request') return channel
      const { id, method, params } = incoming
      const line = { method, of: params.name ?? params.uri, id, transport, revision: revision?.version }
      fastify.log.debug(line, 'request')
      return traced(channel, outcome => fastify.log.debug({ ...line, ...outcome }, 'response'))
    })
  }

  mcp.onLog((level, data, call) => {
    const fields = { method: call?.method, of: call?.params.name ?? call?.params.uri, id: call?.id, ...(data instanceof Error ? { err: data } : typeof data === 'object' ? data : { data }) }
    fastify.log[PINO_LEVEL[level]](fields, call === undefined ? 'mcp' : `log of ${call.method}`)
  })
}, { name: 'logging', dependencies: ['mcp'] })

/** Tells how a request was answered, and when. */
function traced (channel: Channel, tell: (outcome: object) => void): Channel {
  const start = performance.now()
  const told = (outcome: object) => tell({ ms: performance.now() - start, ...outcome })
  return {
    streams: channel.streams,
    respond: (text, status) => {
      const { result, error } = JSON.parse(text) as { result?: { isError?: boolean }, error?: { code: number, message: string } }
      told(error === undefined ? { isError: result?.isError === true } : { err: { code: error.code, message: error.message } })
      channel.respond(text, status)
    },
    emit: (text, method) => channel.emit(text, method),
    end: () => { told({ cancelled: true }); channel.end() },
    release: retryMs => channel.release?.(retryMs)
  }
}
