import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import type { CallOutcome } from '../../protocol/dispatch/call-response.js'
import { clientOf, methodOf, outcomeOf, ruleOf, subjectOf, unknownOf } from '../../protocol/dispatch/call-facts.js'
import type { CallTrace } from '../../protocol/wire/trace.js'
import { AuditEntry } from './audit/audit-entry.js'
import { callSentence, type AuditLine } from './audit/audit-line.js'

/** Logs one line for each call: the caller, the method and its target, the outcome. Never arguments or results. */
export default fp(async fastify => {
  const { mcp, log } = fastify
  mcp.onEnd((call, ended) => {
    if (isLogged(log, auditLevel(call.peer.transport, outcomeOf(call, ended)))) write(lineOf(call, ended), call.trace)
  })

  function write (audit: AuditLine, trace: CallTrace | undefined): void {
    try {
      log[auditLevel(audit.transport, audit.outcome)](new AuditEntry(audit, trace), callSentence(audit))
    } catch {
      // The logger may be the host's own. That it cannot write a line must not fail the call.
    }
  }
}, { name: 'patchbay-audit', dependencies: ['patchbay-mcp'] })

/**
 * A call over stdio that succeeded is at debug level: the application that launched the process shows what it writes to
 * people. One that was denied is at warn, all others are at info.
 */
function auditLevel (transport: string, outcome: string): 'debug' | 'info' | 'warn' {
  if (outcome === 'ok') return transport === 'stdio' ? 'debug' : 'info'
  return outcome === 'denied' ? 'warn' : 'info'
}

function lineOf (call: Call, ended: CallOutcome): AuditLine {
  const subject = subjectOf(call)
  const { tool, resource, prompt, upstream } = subject
  return {
    principal: call.principal,
    client: clientOf(call.client),
    transport: call.peer.transport,
    revision: call.revision.version,
    method: methodOf(call, ended, subject),
    tool,
    resource,
    prompt,
    unknown: unknownOf(call, ended, subject),
    upstream,
    outcome: outcomeOf(call, ended),
    rule: ruleOf(call),
    approval: call.ruled?.approval,
    answers: call.ruled?.answers,
    code: ended.code,
    ms: Math.round(call.response.ms * 1000) / 1000,
    correlation: call.correlation,
    task: call.task?.id,
    isTaskRun: call.task?.runs === true ? true : undefined
  }
}

/** True where the logger writes this level. Loggers other than pino may not tell, and are given every line. */
const isLogged = (log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }, level: string): boolean =>
  log.isLevelEnabled?.(level) !== false
