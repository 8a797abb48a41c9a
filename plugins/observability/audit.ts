import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { oneLine } from '../../lib/one-line.js'
import { now } from '../../lib/time/clock.js'
import type { CallOutcome } from '../../protocol/dispatch/call-response.js'
import { codes } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { AuditSubject } from '../../protocol/dispatch/target.js'
import { callSentence, type AuditLine } from './audit/audit-line.js'

const MAX_NAME = 64

/** Logs one line for each call: the caller, the method and its target, the outcome. Never arguments or results. */
export default fp(async fastify => {
  const { mcp, log } = fastify
  mcp.onEnd((call, ended) => { if (isLogged(log, auditLevel(call.peer.transport, outcomeOf(call, ended)))) write(lineOf(call, ended, subjectOf(call))) })

  function write (audit: AuditLine): void {
    try {
      log[auditLevel(audit.transport, audit.outcome)]({ audit }, callSentence(audit))
    } catch {
      // The logger may be the host's own. That it cannot write a line must not fail the call.
    }
  }
}, { name: 'patchbay-audit', dependencies: ['patchbay-mcp'] })

/**
 * A call over stdio that succeeded is at debug level: the application that launched the process shows what it writes to people. One that was
 * denied is at warn, all others are at info.
 */
function auditLevel (transport: string, outcome: string): 'debug' | 'info' | 'warn' {
  if (outcome === 'ok') return transport === 'stdio' ? 'debug' : 'info'
  return outcome === 'denied' ? 'warn' : 'info'
}

const outcomeOf = ({ denied }: Call, { outcome }: CallOutcome): string => denied ? 'denied' : outcome

function lineOf (call: Call, ended: CallOutcome, about: AuditSubject | undefined): AuditLine {
  const { code } = ended
  const { tool, resource, prompt, upstream }: Partial<Record<'tool' | 'resource' | 'prompt' | 'upstream', string>> = about ?? {}
  return {
    principal: call.principal,
    client: clientOf(call.client),
    transport: call.peer.transport,
    revision: call.revision.version,
    // An unknown method may be any text, so it is not repeated.
    method: about === undefined && code === codes.methodNotFound ? undefined : call.method,
    tool,
    resource,
    prompt,
    upstream,
    outcome: outcomeOf(call, ended),
    code,
    ms: Math.round((now() - call.response.startedAt) * 1000) / 1000,
    correlation: call.correlation
  }
}

/** Undefined when an author's function fails at it: a call that went wrong needs its line more than others. */
function subjectOf (call: Call): AuditSubject | undefined {
  try {
    return call.target?.auditSubject
  } catch {
    return undefined
  }
}

/** The client's unverified name and version, without control characters, which a terminal might obey. */
function clientOf (client: unknown): string | undefined {
  if (!isObject(client) || typeof client.name !== 'string') return undefined
  const { name, version } = client
  return oneLine(`${name}${typeof version === 'string' ? `/${version}` : ''}`, MAX_NAME)
}

/** Whether the logger writes this level. Loggers other than pino may not tell, and are given every line. */
const isLogged = (log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }, level: string): boolean => log.isLevelEnabled?.(level) !== false
