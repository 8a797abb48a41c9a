import { initialize, notification } from '../support/messages.js'
import type { Case, Opening } from './case.js'
import { versionOf, versionsOf } from './openings.js'
import { cancelled, expected, isId, messagesIn, together, type Id, type Tally } from './expect.js'
import { excuse, faultsOf, faultsOfTally, isComplete, type Fault, type ReceivedMessage } from './oracle.js'
import { signaturesOf } from './signature.js'

const MAX_ANSWERS = 6
const CAPABILITIES = { roots: { listChanged: true }, sampling: {}, elicitation: {} }

/** The handshake of an opening, as a good client makes it. */
export const handshake = (opening: Opening): { hello: string, thanks: string } => ({
  hello: initialize(versionOf(opening), CAPABILITIES, 'hello'),
  thanks: notification('notifications/initialized')
})

export const PROBE = JSON.stringify({ jsonrpc: '2.0', id: 'probe', method: 'ping' })

/** What a client knows in the course of one case. */
export class Conversation {
  /** Every message as it went out, answers to questions included. */
  readonly sent: Buffer[] = []
  /** Everything the server sent, as text and as messages. */
  readonly texts: string[] = []
  readonly received: ReceivedMessage[] = []
  readonly faults: Fault[] = []
  readonly known: Record<string, string>
  readonly #input: Case
  #asked = 0
  #tally: Tally | undefined

  constructor (input: Case, known: Record<string, string> = {}) {
    this.#input = input
    this.known = known
  }

  /** What the server gave takes the place of what stands for it. */
  fill (text: string): string {
    return text.includes('{{')
      ? text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => this.known[name] ?? whole)
      : text
  }

  /** The bytes of a message to send, which counts as sent. */
  send (bytes: Buffer): Buffer {
    const filled = this.filled(bytes)
    this.sent.push(filled)
    this.#tally = undefined
    return filled
  }

  filled (bytes: Buffer): Buffer {
    return bytes.includes('{{') ? Buffer.from(this.fill(bytes.toString('latin1')), 'latin1') : bytes
  }

  /** Takes a text that the server sent, and gives the answers to its questions. */
  receive (text: string): Buffer[] {
    this.texts.push(text)
    const messages = messagesIn(Buffer.from(text))
    this.received.push(...messages)
    for (const { result } of messages) this.#remember(result as Record<string, unknown> | undefined)
    return messages.filter(({ id, method }) => method !== undefined && isId(id)).flatMap(({ id }) => this.#answer(id))
  }

  /** True when every expected message was received. */
  get complete (): boolean {
    return isComplete(this.received, this.#expected())
  }

  /** What is missing or too much of it. */
  shortfall (): Fault[] {
    return faultsOfTally(this.received, this.#expected())
  }

  /** Ids that may still be answered. */
  unsettled (): Id[] {
    return [...this.#expected().ids]
      .filter(
        ([id, { max }]) =>
          this.received.filter(message => message.method === undefined && message.id === id).length < max
      )
      .map(([id]) => id)
  }

  signatures (more: string[] = []): string[] {
    return signaturesOf(this.#input.opening, this.sent, this.received, more)
  }

  /** Checks everything that the server sent, in one of these revisions. */
  judge (versions = versionsOf(this.#input), sent = this.sent): Fault[] {
    return this.texts.flatMap(text => faultsOf(text, sent, versions))
  }

  #expected (): Tally {
    this.#tally ??= excuse(together(this.sent.map(bytes => expected(bytes))), cancelled(this.sent))
    return this.#tally
  }

  #remember (result: Record<string, unknown> | undefined): void {
    if (typeof result?.requestState === 'string') this.known.state = result.requestState
    if (typeof result?.nextCursor === 'string') this.known.cursor = result.nextCursor
  }

  #answer (id: unknown): Buffer[] {
    if (++this.#asked > MAX_ANSWERS) return []
    const { answers } = this.#input
    const answer =
      answers[(this.#asked - 1) % Math.max(1, answers.length)] ??
      Buffer.from('{"jsonrpc":"2.0","id":{{id}},"error":{"code":-32601,"message":"no"}}')
    return [Buffer.from(answer.toString('latin1').replaceAll('{{id}}', JSON.stringify(id)), 'latin1')]
  }
}
