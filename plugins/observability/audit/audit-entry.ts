import { JSON_MEMBERS, quoteName, quoteText, type WithJsonMembers } from '../../../lib/json-text.js'
import type { CallTrace } from '../../../protocol/wire/trace.js'
import type { AuditLine } from './audit-line.js'

/** The fields of a log line about one call, with the ids of its span under the names that collectors know them by. */
export class AuditEntry implements WithJsonMembers {
  readonly audit: AuditLine
  // Not there without a span: the mixin of a host's logger may set them.
  declare readonly trace_id?: string
  declare readonly span_id?: string
  declare readonly trace_flags?: string

  constructor (audit: AuditLine, trace: CallTrace | undefined) {
    this.audit = audit
    if (trace === undefined) return
    this.trace_id = trace.traceId
    this.span_id = trace.spanId
    this.trace_flags = trace.flags
  }

  [JSON_MEMBERS] (): string {
    const { trace_id: id, span_id: span, trace_flags: flags } = this
    const audit = `"audit":${auditJson(this.audit)}`
    return id === undefined ? audit : `${audit}${text(',"trace_id":', id)}${text(',"span_id":', span)}${text(',"trace_flags":', flags)}`
  }
}

// Written for every call: JSON.stringify takes three times as long. The first members end with a comma, those behind
// `ms` begin with one, because only a few of them are always there.
function auditJson (line: AuditLine): string {
  return '{' +
    name('"principal":', line.principal) +
    name('"client":', line.client) +
    name('"transport":', line.transport) +
    name('"revision":', line.revision) +
    name('"method":', line.method) +
    name('"tool":', line.tool) +
    name('"resource":', line.resource) +
    name('"prompt":', line.prompt) +
    name('"unknown":', line.unknown) +
    name('"upstream":', line.upstream) +
    name('"outcome":', line.outcome) +
    name('"rule":', line.rule) +
    (line.approval === undefined ? '' : '"approval":' + JSON.stringify(line.approval) + ',') +
    (line.answers === undefined ? '' : '"answers":' + JSON.stringify(line.answers) + ',') +
    (line.code === undefined ? '' : '"code":' + line.code + ',') +
    '"ms":' + line.ms +
    text(',"correlation":', line.correlation) +
    text(',"task":', line.task) +
    (line.isTaskRun === undefined ? '}' : ',"isTaskRun":true}')
}

const name = (start: string, value: string | undefined): string =>
  value === undefined ? '' : start + quoteName(value) + ','

const text = (start: string, value: string | undefined): string => value === undefined ? '' : start + quoteText(value)
