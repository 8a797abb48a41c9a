import { INITIALIZE, INITIALIZED, LEGACY, resultOf, type Era, type Message } from './messages.js'

/** One connection of a client, as thin as it can be. */
export interface Wire {
  /** The bytes that carry a message. */
  frame: (message: Message) => Buffer
  write: (bytes: Buffer) => void
  /** Runs for each answer, with its length and its text, which is decoded only when it is asked for. */
  onAnswer: (bytes: number, text: () => string) => void
  /** Runs when all answers of one read were handled. */
  onRead: () => void
  /** Runs when the server closes the connection. */
  onCut: (why: Error) => void
  /** Sends a notification; settles when the next message may be sent. */
  notify: (message: Message) => Promise<void>
  close: () => void
}

const ANSWER_TIMEOUT = 30_000

export const noListeners: Pick<Wire, 'onAnswer' | 'onRead' | 'onCut'> = {
  onAnswer: () => {},
  onRead: () => {},
  onCut: () => {}
}

/** Asks once and waits for the result. */
export async function ask (wire: Wire, message: Message): Promise<Record<string, unknown>> {
  return resultOf(await exchange(wire, wire.frame(message)), [message.id as number])
}

/** Writes once and waits for the text of the answer. */
export async function exchange (wire: Wire, bytes: Buffer): Promise<string> {
  let late: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      late = setTimeout(() => reject(new Error(`no answer within ${ANSWER_TIMEOUT} ms`)), ANSWER_TIMEOUT)
      wire.onCut = reject
      wire.onAnswer = (_, text) => {
        resolve(Promise.resolve().then(text))
      }
      wire.write(bytes)
    })
  } finally {
    clearTimeout(late)
    Object.assign(wire, noListeners)
  }
}

/** The handshake of the eras that have one. */
export async function initialize (wire: Wire, era: Era): Promise<void> {
  if (era !== LEGACY) return
  await ask(wire, INITIALIZE)
  await wire.notify(INITIALIZED)
}
