import { Type } from '@sinclair/typebox'
import { shorten, ToolError } from '../protocol/wire/errors.js'
import { tool } from '../protocol/definitions/tool.js'

export default tool({
  name: 'get_current_time',
  title: 'Current time',
  description: 'Get the current time',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: Type.Object({
    timeZone: Type.Optional(Type.String({ description: 'An IANA time zone such as Europe/Rome. UTC when absent.' }))
  }, { additionalProperties: false }),
  output: Type.Object({ iso: Type.String(), timeZone: Type.String(), local: Type.String() }),
  text: ({ iso, timeZone, local }) => timeZone === 'UTC' ? iso : `${local} (${iso})`,
  run: ({ timeZone = 'UTC' }) => {
    const now = new Date()
    return { iso: now.toISOString(), timeZone, local: format(now, timeZone) }
  }
})

function format (now: Date, timeZone: string): string {
  try {
    return now.toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' })
  } catch {
    throw new ToolError(`"${shorten(timeZone)}" is not a time zone; use an IANA name such as Europe/Rome`)
  }
}
