/** The caller, the method and the outcome of one call; never its arguments or its result. */
export interface AuditLine {
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

/** A call over stdio that succeeded is at debug level: the application that launched the process shows what it writes to people. All others are at info. */
export function auditLevel (transport: string, outcome: string): 'debug' | 'info' {
  return transport === 'stdio' && outcome === 'ok' ? 'debug' : 'info'
}
