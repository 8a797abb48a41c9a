import { decode } from '../../protocol/wire/jsonrpc.js'
import { idOfAnswer } from './answered-id.js'
import type { LinkEvents, LinkLimits } from './link.js'
import type { Source, UnaskedMessages } from './unasked-messages.js'

/** Decodes a message, or a batch, that came where one stream carries all, and reports it. A response that cannot be read fails the request it answers. */
export function reportMessages (bytes: Buffer, { limits }: LinkLimits, events: LinkEvents, unasked: UnaskedMessages, source: Source): void {
  const incoming = decode(bytes, limits)
  for (const message of incoming.kind === 'batch' ? incoming.messages : [incoming]) {
    unasked.pass(source, message, bytes.length)
    const id = message.kind === 'invalid' ? idOfAnswer(bytes) : undefined
    if (message.kind === 'invalid' && id !== undefined) events.failed(id, new Error(`its response cannot be read: ${message.error.message}`))
    else events.message(message, undefined)
  }
}
