import type { Message } from './messages.js'
import { redact } from './redact.js'

/** A message as people see it: indented, without what is usually secret. */
export const shownMessage = ({ message, secrets }: Message): string => JSON.stringify(redact(message, secrets), null, 2)

/** One message a line, as `shownMessage` has them. */
export const asLines = (all: Message[]): string => all.map(({ at, direction, ms, message, secrets }) => JSON.stringify({ at: new Date(at).toISOString(), direction, ...(ms === undefined ? {} : { ms }), message: redact(message, secrets) }) + '\n').join('')
