import { INITIALIZE, INITIALIZED, LEGACY, resultOf, type Era, type Message } from './messages.js'

/** One connection of a client, as thin as it can be. */
export interface Wire {
  /** The bytes that carry a message. */
  frame: (message: Message) => Buffer
  write: (bytes: Buffer) => void
  /** Hears of each answer: how long it was, and its text for those who want to read it. */
  onAnswer: (bytes: number, text: () => string) => void
  /** All that came with one read was told. */
  onRead: () => void
  /** Hears of an end that nobody asked for. */
  onCut: (why: Error) => void
  /** Says something that has no result; done when the next thing may be said. */
  tell: (message: Message) => Promise<void>
  close: () => void
}

const PATIENCE = 30_000

export const nobody: Pick<Wire, 'onAnswer' | 'onRead' | 'onCut'> = { onAnswer: () => {}, onRead: () => {}, onCut: () => {} }

/** Asks once and waits for the result. */
export async function ask (wire: Wire, message: Message): Promise<Record<string, unknown>> {
  return resultOf(await exchange(wire, wire.frame(message)), [message.id as number])
}

/** Writes once and waits for the text of the answer. */
export async function exchange (wire: Wire, bytes: Buffer): Promise<string> {
  let late: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      late = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE)
      wire.onCut = reject
      wire.onAnswer = (_, text) => {
        resolve(Promise.resolve().then(text))
      }
      wire.write(bytes)
    })
  } finally {
    clearTimeout(late)
    Object.assign(wire, nobody)
  }
}

/** The handshake of the eras that have one. */
export async function greet (wire: Wire, era: Era): Promise<void> {
  if (era !== LEGACY) return
  await ask(wire, INITIALIZE)
  await wire.tell(INITIALIZED)
}
