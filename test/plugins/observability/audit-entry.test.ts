import t from 'tap'
import { JSON_MEMBERS } from '../../../lib/json-text.js'
import { AuditEntry } from '../../../plugins/observability/audit/audit-entry.js'
import type { AuditLine } from '../../../plugins/observability/audit/audit-line.js'

const ODD = ['"', '\\', '\n', '\u0000', '\u2028', '\ud800', '𝒳', 'é', '', '__proto__', '</script>', 'x'.repeat(300)]

/** A line that has every member. */
const whole = (text: string): { [Name in keyof AuditLine]: NonNullable<AuditLine[Name]> } => ({
  principal: text,
  client: `${text}/1`,
  transport: 'http',
  revision: '2026-07-28',
  method: text,
  tool: text,
  resource: text,
  prompt: text,
  unknown: text,
  upstream: text,
  outcome: 'error',
  rule: text,
  approval: { id: text, answer: 'approved', by: 'operator', principal: text },
  answers: [{ id: text, answer: 'answered', by: 'webhook' }],
  code: -32602,
  ms: 1.234,
  correlation: text,
  task: text,
  isTaskRun: true
})

const written = (entry: AuditEntry): unknown => JSON.parse(`{${entry[JSON_MEMBERS]()}}`)
const asUsual = (entry: AuditEntry): unknown => JSON.parse(JSON.stringify(entry))

t.test('an entry writes the members that JSON.stringify writes, whatever their text is', async t => {
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: '01' } as unknown as
    NonNullable<ConstructorParameters<typeof AuditEntry>[1]>
  for (const [index, text] of ODD.entries()) {
    for (const entry of [new AuditEntry(whole(text), undefined), new AuditEntry(whole(text), trace)]) {
      t.strictSame(written(entry), asUsual(entry), `text ${index}`)
      t.strictSame(entry[JSON_MEMBERS](), JSON.stringify(entry).slice(1, -1), 'in the same order')
    }
  }
})

t.test('members that are not there are left out, each alone and all of them', async t => {
  const line = whole('text')
  const least: AuditLine = {
    ...Object.fromEntries(Object.keys(line).map(name => [name, undefined])) as unknown as AuditLine,
    transport: 'stdio',
    revision: '2024-11-05',
    outcome: 'ok',
    ms: 0
  }
  t.strictSame(written(new AuditEntry(least, undefined)), {
    audit: { transport: 'stdio', revision: '2024-11-05', outcome: 'ok', ms: 0 }
  })
  for (const name of Object.keys(line) as Array<keyof AuditLine>) {
    const entry = new AuditEntry({ ...least, [name]: line[name] }, undefined)
    t.strictSame(written(entry), asUsual(entry), name)
  }
})
