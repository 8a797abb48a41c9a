import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { now } from '../../lib/time/clock.js'
import type { CallOutcome } from '../../protocol/dispatch/call-response.js'
import { codes } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { AuditSubject } from '../../protocol/dispatch/target.js'

const MAX_NAME = 64

/** The caller, the method and the outcome of one call; never its arguments or its result. */
interface AuditLine {
  principal: string | undefined
  /** How the client names itself. Not verified. */
  client: string | undefined
  transport: string
  revision: string
  method: string | undefined
  tool: string | undefined
  resource: string | undefined
  prompt: string | undefined
  outcome: string
  code: number | undefined
  /** When it ended, and how long it took, in milliseconds. */
  at: number
  ms: number
  /** The id that the client got with an internal error. */
  correlation: string | undefined
}

/** Logs one line for each call: the caller, the method and its target, the outcome. Never arguments or results. */
export default fp(async fastify => {
  const { mcp, log } = fastify
  mcp.onEnd((call, ended) => { if (isLogged(log, auditLevel(call.peer.transport, outcomeOf(call, ended)))) write(lineOf(call, ended, subjectOf(call))) })

  function write (audit: AuditLine): void {
    try {
      log[auditLevel(audit.transport, audit.outcome)]({ audit }, 'call')
    } catch {
      // The logger may be the host's own. That it cannot write a line must not fail the call.
    }
  }
}, { name: 'patchbay-audit', dependencies: ['patchbay-mcp'] })

/** A call over stdio that succeeded is at debug level: the application that launched the process shows what it writes to people. All others are at info. */
function auditLevel (transport: string, outcome: string): 'debug' | 'info' {
  return transport === 'stdio' && outcome === 'ok' ? 'debug' : 'info'
}

const outcomeOf = ({ denied }: Call, { outcome }: CallOutcome): string => denied ? 'denied' : outcome

function lineOf (call: Call, ended: CallOutcome, about: AuditSubject | undefined): AuditLine {
  const { code } = ended
  const { tool, resource, prompt }: Partial<Record<'tool' | 'resource' | 'prompt', string>> = about ?? {}
  return {
    principal: call.principal,
    client: nameOf(call.client),
    transport: call.peer.transport,
    revision: call.revision.version,
    // An unknown method may be any text, so it is not repeated.
    method: about === undefined && code === codes.methodNotFound ? undefined : call.method,
    tool,
    resource,
    prompt,
    outcome: outcomeOf(call, ended),
    code,
    at: Date.now(),
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
function nameOf (client: unknown): string | undefined {
  if (!isObject(client) || typeof client.name !== 'string') return undefined
  const { name, version } = client
  return `${name}${typeof version === 'string' ? `/${version}` : ''}`.slice(0, MAX_NAME).replace(/[\p{C}\u2028\u2029]/gu, '?')
}

/** Whether the logger writes this level. Loggers other than pino may not tell, and are given every line. */
const isLogged = (log: FastifyBaseLogger & { isLevelEnabled?: (level: string) => boolean }, level: string): boolean => log.isLevelEnabled?.(level) !== false
